// The film's data. A history is a list of changes, each with the number of the picture from which on it holds.

const film = JSON.parse(document.getElementById("film").textContent);

const $ = (id) => document.getElementById(id);

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

// The change that holds at that picture.
function latest(history, at) {
  let low = 0, high = history.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (history[middle][0] <= at) low = middle; else high = middle - 1;
  }
  return history[low];
}

// Positions count the pictures of all chapters, one chapter after another.
const starts = [];
let pictureCount = 0;
for (const chapter of film.chapters) {
  starts.push(pictureCount);
  pictureCount += chapter.count;
}

function placeOf(position) {
  const chapter = latest(starts.map((start, number) => [start, number]), position)[1];
  return { chapter, at: position - starts[chapter] };
}

// The details of the steps are in parts, which are parsed when they are first needed. A few stay in memory.
const KEPT_PARTS = 8;
const parts = new Map();

function detailsAt(chapter, at) {
  const id = `d${chapter}-${Math.floor(at / film.part)}`;
  const part = parts.get(id) || JSON.parse($(id).textContent);
  parts.delete(id);
  parts.set(id, part);
  if (parts.size > KEPT_PARTS) parts.delete(parts.keys().next().value);
  return { ...part.steps[at % film.part], values: part.values };
}

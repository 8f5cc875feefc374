// The program's own lines, with the one of the step marked.

function makeSource() {
  const pane = $("source"), lines = $("lines"), heading = $("file");
  let file = null, marked = [];
  pane.hidden = !Object.keys(film.sources).length;
  document.body.classList.toggle("no-source", pane.hidden);

  function open(other) {
    file = other;
    heading.textContent = other;
    lines.replaceChildren(...film.sources[other].split("\n").map((text) => make("li", "", text || " ")));
  }

  function show(mark) {
    for (const line of marked) {
      line.className = "";
      line.textContent = line.textContent; // without the marked part
    }
    marked = [];
    if (!mark) return;
    const [name, first, last, begin, end] = mark;
    if (name !== file) open(name);
    for (let number = first; number <= last; number++) {
      const line = lines.children[number - 1];
      if (!line) continue;
      line.className = "current";
      marked.push(line);
    }
    if (first === last && marked.length && begin < end) {
      const text = [...marked[0].textContent], part = (from, to) => text.slice(from, to).join("");
      marked[0].replaceChildren(part(0, begin), make("mark", "", part(begin, end)), part(end));
    }
    if (marked.length) reveal(marked[0]);
  }

  function reveal(line) {
    const inside = line.getBoundingClientRect(), around = lines.getBoundingClientRect();
    if (inside.top >= around.top && inside.bottom <= around.bottom) return;
    lines.scrollTop += inside.top - around.top - around.height / 3;
  }

  return { show };
}

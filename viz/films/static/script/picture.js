// The drawings of each chapter: its own, and those in which a click has opened a fold.

function makePicture(number, go, look) {
  const chapter = film.chapters[number], made = [];
  let opening = 0, shown = false, last = 0;

  function drawing() {
    const name = opening ? `p${number}o${opening}` : `p${number}`, data = opening ? chapter.openings[opening - 1] : chapter;
    return made[opening] || (made[opening] = makeDrawing(name, data, go, turn));
  }

  // Show another opening at the same step.
  function turn(other) {
    drawing().svg.toggleAttribute("hidden", true);
    opening = other;
    reveal(shown);
    show(last);
    look();
  }

  function reveal(now) {
    shown = now;
    drawing().svg.toggleAttribute("hidden", !now);
  }

  function show(at) {
    last = at;
    drawing().show(at);
  }

  return { reveal, show, focus: (at) => drawing().focus(at), get svg() { return drawing().svg; } };
}

// One drawing: at each step, the texts and the classes of its boxes and arrows change.
function makeDrawing(name, chapter, go, turn) {
  const svg = $(name), prefix = `${name}-`;

  function partsOf(id, history) {
    const group = $(prefix + id), texts = {};
    group.querySelectorAll("[data-k],[data-t]").forEach((text) => {
      texts[text.hasAttribute("data-k") ? `k${text.dataset.k}` : `t${text.dataset.t}`] = text;
    });
    const words = group.getAttribute("class").split(" ").filter((word) => !film.states.includes(word));
    if (id in chapter.opens) words.push("leads", "opens");
    else if (id in chapter.clicks) words.push("leads");
    return { group, texts, history, base: words.join(" "), glyph: group.querySelector(".glyph"), now: null };
  }

  const boxes = Object.entries(chapter.boxes).map(([id, history]) => partsOf(id, history));
  const arrows = chapter.arrows.map((history, index) => ({ ...partsOf(`a${index}`, history), term: $(`${prefix}a${index}`).querySelector(".term") }));

  svg.addEventListener("click", (event) => {
    const id = (event.target.closest(".box, .open-fold") || { id: "" }).id.slice(prefix.length);
    if (id in chapter.opens) turn(chapter.opens[id]);
    else if (id in chapter.closes) turn(chapter.closes[id]);
    else if (id in chapter.clicks) go(chapter.clicks[id]);
  });

  // What a click or Enter on a fold does, in its tooltip.
  const folds = [...Object.keys(chapter.opens).map((id) => [id, "opens"]), ...Object.keys(chapter.closes).map((id) => [id, "closes"])];
  for (const [id, does] of folds) {
    const group = $(prefix + id), title = group.querySelector("title");
    if (title) title.textContent += `\na click ${does} it`;
    group.tabIndex = 0;
    group.setAttribute("role", "button");
    group.setAttribute("aria-expanded", String(does === "closes"));
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter") group.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    });
    if (does === "closes") group.classList.add("leads");
  }

  function showBox(part, at) {
    const now = latest(part.history, at);
    if (part.now === now) return;
    part.now = now;
    const [, state, rows] = now;
    part.group.setAttribute("class", `${part.base} ${state}`);
    if (part.glyph) part.glyph.textContent = film.glyphs[state] || "";
    rows.forEach((row, index) => {
      const [key, text, tone] = chapter.rows[row], keyed = part.texts[`k${index}`], value = part.texts[`t${index}`];
      if (keyed) {
        keyed.textContent = key;
        keyed.setAttribute("class", tone === "alarm" ? "key alarm" : "key");
      }
      if (value) {
        value.textContent = text;
        value.setAttribute("class", `${value.classList.contains("words") ? "words" : "text"} ${tone}`);
      }
    });
  }

  function showArrow(part, at) {
    const now = latest(part.history, at);
    if (part.now === now) return;
    part.now = now;
    part.group.setAttribute("class", `arrow ${now[1]}`);
    if (part.term) part.term.textContent = now[2];
  }

  function show(at) {
    boxes.forEach((part) => showBox(part, at));
    arrows.forEach((part) => showArrow(part, at));
  }

  // The box to look at: the current one or, before the first step, the one that comes first.
  function focus(at) {
    const now = svg.querySelector(".box.failed:not(.again, .error), .box.current:not(.again)");
    if (now) return now;
    const first = Object.keys(chapter.clicks).find((id) => chapter.clicks[id] === 1);
    return at === 0 && first !== undefined ? $(prefix + first) : null;
  }

  return { svg, show, focus };
}

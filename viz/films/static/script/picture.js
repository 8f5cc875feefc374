// One drawing for each chapter: at each step, the texts and the classes of boxes and arrows change.

function makePicture(number, go) {
  const chapter = film.chapters[number], svg = $(`p${number}`), prefix = `p${number}-`;

  function partsOf(id, history) {
    const group = $(prefix + id), texts = {};
    group.querySelectorAll("[data-k],[data-t]").forEach((text) => {
      texts[text.hasAttribute("data-k") ? `k${text.dataset.k}` : `t${text.dataset.t}`] = text;
    });
    const words = group.getAttribute("class").split(" ").filter((word) => !film.states.includes(word));
    if (id in chapter.clicks) words.push("leads");
    return { group, texts, history, base: words.join(" "), glyph: group.querySelector(".glyph"), now: null };
  }

  const boxes = Object.entries(chapter.boxes).map(([id, history]) => partsOf(id, history));
  const arrows = chapter.arrows.map((history, index) => ({ ...partsOf(`a${index}`, history), term: $(`${prefix}a${index}`).querySelector(".term") }));

  svg.addEventListener("click", (event) => {
    const id = (event.target.closest(".box") || { id: "" }).id.slice(prefix.length);
    if (id in chapter.clicks) go(chapter.clicks[id]);
  });

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
    const now = svg.querySelector(".box.failed, .box.current");
    if (now) return now;
    const first = Object.keys(chapter.clicks).find((id) => chapter.clicks[id] === 1);
    return at === 0 && first !== undefined ? $(prefix + first) : null;
  }

  return { svg, show, focus };
}

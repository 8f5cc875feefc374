// The list of steps: a button for each node of the tape. Only the rows that are seen, and some around them, exist.

const AROUND = 20; // rows

function makeTape(number, go) {
  const chapter = film.chapters[number], pane = $("tape"), list = make("ol", "tape");
  const grows = chapter.tape.some((row) => row.history.some(([, state]) => state === "absent"));
  const made = new Map(); // node -> the parts of its row
  let at = 0, rows = chapter.tape;
  pane.append(list);

  function makeRow(row) {
    const line = make("li"), button = make("button");
    const parts = { line, button, glyph: make("span", "glyph"), grad: make("span", "grad"), row, now: null };
    const what = `${row.title} ${row.shape}`;
    button.append(parts.glyph, make("span", "what", what), parts.grad);
    button.title = what;
    const step = chapter.nodes[row.node];
    if (step === undefined) button.setAttribute("aria-disabled", "true");
    else button.addEventListener("click", () => go(step));
    line.append(button);
    return parts;
  }

  function update(parts) {
    const now = latest(parts.row.history, at);
    if (parts.now === now) return;
    parts.now = now;
    const [, state, grad] = now, current = state === "current" || state === "failed";
    parts.line.className = `${parts.row.leaf ? "leaf " : ""}${state}`;
    if (current) parts.button.setAttribute("aria-current", "step"); else parts.button.removeAttribute("aria-current");
    parts.glyph.textContent = film.glyphs[state] || "";
    parts.grad.textContent = grad;
  }

  const height = () => parseFloat(getComputedStyle(list).getPropertyValue("--row"));

  // Make the rows that are seen, and remove the others, but never the one that has the focus.
  function render() {
    if (list.hidden) return;
    const row = height(), first = Math.max(0, Math.floor(pane.scrollTop / row) - AROUND);
    const end = Math.min(rows.length, first + Math.ceil(pane.clientHeight / row) + 2 * AROUND);
    const seen = rows.slice(first, end), wanted = new Set(seen.map((one) => one.node));
    for (const [node, parts] of made) {
      if (wanted.has(node) || parts.line.contains(document.activeElement)) continue;
      parts.line.remove();
      made.delete(node);
    }
    seen.forEach((one, index) => {
      if (!made.has(one.node)) {
        const parts = makeRow(one);
        parts.line.setAttribute("aria-posinset", first + index + 1);
        parts.line.setAttribute("aria-setsize", rows.length);
        made.set(one.node, parts);
      }
      const { line } = made.get(one.node);
      line.style.top = `${(first + index) * row}px`;
      if (list.children[index] !== line) list.insertBefore(line, list.children[index] || null);
    });
    made.forEach(update);
  }

  function show(next) {
    at = next;
    list.hidden = false;
    if (grows) rows = chapter.tape.filter((row) => latest(row.history, at)[1] !== "absent");
    list.style.height = `${rows.length * height()}px`;
    const current = rows.findIndex((row) => chapter.nodes[row.node] === at);
    reveal(current < 0 ? rows.length - 1 : current);
    render();
  }

  function reveal(index) {
    const top = index * height(), inside = pane.clientHeight - 2 * height();
    if (top < pane.scrollTop + height() || top > pane.scrollTop + inside) pane.scrollTop = top - pane.clientHeight / 2;
  }

  function hide() { list.hidden = true; }

  pane.addEventListener("scroll", render);
  list.addEventListener("keydown", (event) => {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const here = [...made.values()].find((parts) => parts.line.contains(event.target));
    const next = rows.indexOf(here.row) + way;
    if (!rows[next]) return;
    reveal(next);
    render();
    made.get(rows[next].node).button.focus();
  });

  return { show, hide, render };
}

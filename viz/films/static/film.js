"use strict";
(() => {
  const film = JSON.parse(document.getElementById("film").textContent);
  const $ = (id) => document.getElementById(id);
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // A frame holds the changes since the previous one. Combined here, the frames can be shown in any order.
  const moments = [];
  film.chapters.forEach((chapter, number) => {
    let boxes = {}, arrows = {}, tape = {};
    chapter.frames.forEach((frame, at) => {
      boxes = Object.assign({}, boxes, frame.boxes);
      arrows = Object.assign({}, arrows, frame.arrows);
      tape = Object.assign({}, tape, frame.tape);
      moments.push({ chapter: number, at, say: frame.say, boxes, arrows, tape, detail: frame.detail });
    });
  });

  const stages = film.chapters.map((chapter, number) => {
    const svg = $(`p${number}`), list = $(`t${number}`);
    const parts = (id) => {
      const group = $(`p${number}-${id}`);
      const texts = {};
      group.querySelectorAll("[data-k],[data-t]").forEach((text) => {
        texts[text.hasAttribute("data-k") ? `k${text.dataset.k}` : `t${text.dataset.t}`] = text;
      });
      const base = group.getAttribute("class").split(" ").filter((word) => !film.states.includes(word)).join(" ");
      return { group, texts, base, glyph: group.querySelector(".glyph"), term: group.querySelector(".term"), now: null };
    };
    const boxes = {}, arrows = {}, rows = {};
    Object.keys(chapter.frames[0].boxes).forEach((id) => { boxes[id] = parts(id); });
    Object.keys(chapter.frames[0].arrows).forEach((id) => { arrows[id] = parts(`a${id}`); });
    list.querySelectorAll("li").forEach((row) => {
      const id = row.dataset.node;
      rows[id] = { row, base: row.classList.contains("leaf") ? "leaf" : "", glyph: row.querySelector(".glyph"),
                   grad: row.querySelector(".grad"), now: null };
      const go = () => {
        const step = chapter.evaluated[id];
        if (step !== undefined) show(moments.findIndex((one) => one.chapter === number && one.at === step));
      };
      row.addEventListener("click", go);
      row.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
      row.tabIndex = 0;
    });
    return { svg, list, boxes, arrows, rows };
  });

  const first = film.chapters[0].first;
  let position = 0, playing = null, scale = null;

  // The address names the step, so that a reload or a copied address opens there.
  function keep(step) {
    if (step === first && !location.hash) return;
    try {
      history.replaceState(null, "", `#step=${step}`);
    } catch { /* a notebook's frame has no address of its own */ }
  }

  function show(wanted) {
    position = Math.max(0, Math.min(moments.length - 1, wanted));
    const moment = moments[position], stage = stages[moment.chapter];
    stages.forEach((one, number) => {
      one.svg.toggleAttribute("hidden", number !== moment.chapter);
      one.list.hidden = number !== moment.chapter;
    });
    for (const [id, part] of Object.entries(stage.boxes)) showBox(part, moment.boxes[id]);
    for (const [id, part] of Object.entries(stage.arrows)) showArrow(part, moment.arrows[id]);
    for (const [id, part] of Object.entries(stage.rows)) showRow(part, moment.tape[id]);
    $("title").textContent = film.chapters[moment.chapter].title;
    $("finding").textContent = film.chapters[moment.chapter].finding;
    $("say").textContent = moment.say;
    $("time").value = position;
    $("time").setAttribute("aria-valuetext", moment.say);
    $("count").textContent = `${first + position} / ${first + moments.length - 1}`;
    keep(first + position);
    showDetail(moment.detail);
    resize();
    follow(stage);
    if (position === moments.length - 1) pause();
  }

  function showBox(part, now) {
    if (part.now === now) return;
    part.now = now;
    const [state, rows] = now;
    part.group.setAttribute("class", `${part.base} ${state}`);
    if (part.glyph) part.glyph.textContent = film.glyphs[state] || "";
    rows.forEach(([key, text, tone], number) => {
      const keyed = part.texts[`k${number}`], value = part.texts[`t${number}`];
      if (keyed) { keyed.textContent = key; keyed.setAttribute("class", tone === "alarm" ? "key alarm" : "key"); }
      if (value) {
        value.textContent = text;
        value.setAttribute("class", `${value.classList.contains("words") ? "words" : "text"} ${tone}`);
      }
    });
  }

  function showArrow(part, now) {
    if (part.now === now) return;
    part.now = now;
    part.group.setAttribute("class", `arrow ${now[0]}`);
    if (part.term) part.term.textContent = now[1];
  }

  function showRow(part, now) {
    if (part.now === now) return;
    part.now = now;
    part.row.className = `${part.base} ${now[0]}`;
    if (now[0] === "current" || now[0] === "failed") part.row.setAttribute("aria-current", "step");
    else part.row.removeAttribute("aria-current");
    part.glyph.textContent = film.glyphs[now[0]] || "";
    part.grad.textContent = now[1];
  }

  // The current node

  function showDetail(detail) {
    const pane = $("detail");
    pane.replaceChildren();
    pane.append(make("h2", "", detail.title));
    if (detail.name) pane.append(make("p", "muted", `%${detail.node} ${detail.name}`));
    if (detail.formula) pane.append(make("p", "", detail.formula));
    if (detail.where) {
      const place = make("p", "muted", `${detail.where}  `);
      place.append(make("code", "", detail.code));
      pane.append(place);
    }
    if (detail.error) {
      pane.append(make("h3", "alarm", `✗ ${detail.error[0]}`));
      detail.error.slice(1).forEach((line) => pane.append(make("p", "alarm", line)));
    }
    (detail.variables || []).forEach(([name, value, text]) => section(pane, name,
      [value === null ? make("code", "", text) : array(value)]));
    (detail.in || []).forEach(([label, value]) => section(pane, label, [array(value)]));
    (detail.saved || []).forEach(([name, note, value]) => section(pane, `saved ${name}: ${note}`, [array(value)]));
    if (detail.leaf) section(pane, ".grad", detail.leaf[0] === null ? [array(detail.leaf[1])]
      : [array(detail.leaf[0]), make("span", "", "→"), array(detail.leaf[1])]);
    (detail.out || []).forEach(([to, term, before, total, left]) => {
      const wait = left ? `, which waits for ${left} more` : ", which is now ready";
      section(pane, `to ${to}${wait}`, term === null ? [make("span", "muted", "None: adds nothing")]
        : before === null ? [array(term)]
        : [array(before), make("span", "", "+"), array(term), make("span", "", "="), array(total)]);
    });
    (detail.hooks || []).forEach((hook) => pane.append(make("p", "muted", `ran ${hook}`)));
    if (detail.freed && (detail.saved || []).length) pane.append(make("p", "muted", "its saved tensors were then freed"));
  }

  function section(pane, heading, parts) {
    pane.append(make("h3", "", heading));
    const row = make("div", "sum");
    row.append(...parts);
    pane.append(row);
  }

  function array(number) {
    if (number === null) return make("span", "muted", "None");
    const value = film.values[number], holder = make("div", "array"), table = make("table", value.exact ? "" : "block");
    value.cells.forEach((cells) => {
      const row = make("tr");
      cells.forEach((cell) => {
        const odd = typeof cell === "string", box = make("td", odd ? "odd" : "", value.exact || odd ? written(cell) : "");
        if (typeof cell === "number") {
          const part = value.largest ? cell / value.largest : 0;
          box.style.backgroundColor = part < 0 ? `rgb(86 160 233 / ${-part * 0.65})` : `rgb(230 140 0 / ${part * 0.65})`;
          if (!value.exact) box.title = written(cell);
        }
        row.append(box);
      });
      table.append(row);
    });
    if (value.cells.length) holder.append(table);
    holder.append(make("div", "about", value.exact ? value.type : `${value.type}: ${value.text}`));
    return holder;
  }

  function written(cell) {
    if (typeof cell !== "number") return String(cell);
    const size = Math.abs(cell), plain = size === 0 || (size >= 1e-4 && size < 1e6);
    return plain ? String(cell) : cell.toExponential().replace("e+", "e");
  }

  // The visible part of the graph and of the tape

  function resize() {
    const { svg } = stages[moments[position].chapter], width = Number(svg.dataset.width);
    const fit = ($("stage").clientWidth - 20) / width;
    svg.style.width = `${width * (scale === null ? Math.min(1.25, Math.max(0.8, fit)) : scale)}px`;
  }

  function follow(stage) {
    const box = stage.svg.querySelector(".box.failed, .box.current"), row = stage.list.querySelector(".failed, .current");
    if (box) centre($("stage"), box);
    else $("stage").scrollTo({ top: $("stage").scrollHeight, left: ($("stage").scrollWidth - $("stage").clientWidth) / 2 });
    if (row) centre($("tape"), row);
    else $("tape").scrollTo({ top: $("tape").scrollHeight });
  }

  function centre(pane, element) {
    const inside = element.getBoundingClientRect(), around = pane.getBoundingClientRect();
    if (!around.height) return;
    const margin = Math.min(80, around.height / 5);
    const up = inside.top < around.top + margin, down = inside.bottom > around.bottom - margin;
    const aside = inside.left < around.left || inside.right > around.right;
    if (up || down) pane.scrollTop += inside.top + inside.height / 2 - around.top - around.height / 2;
    if (aside) pane.scrollLeft += inside.left + inside.width / 2 - around.left - around.width / 2;
  }

  // Time

  function play() {
    if (position === moments.length - 1) show(0);
    $("play").textContent = "Pause";
    const next = () => {
      playing = setTimeout(() => { show(position + 1); if (playing !== null) next(); }, 1000 / Number($("speed").value));
    };
    next();
  }

  function pause() {
    clearTimeout(playing);
    playing = null;
    $("play").textContent = "Play";
  }

  function go(wanted) { pause(); show(wanted); }

  function zoom(factor) {
    const { svg } = stages[moments[position].chapter];
    const now = scale === null ? parseFloat(svg.style.width) / Number(svg.dataset.width) : scale;
    scale = Math.max(0.2, Math.min(4, now * factor));
    resize();
    follow(stages[moments[position].chapter]);
  }

  function look() {
    const order = ["", ...film.themes], root = document.documentElement;
    const next = order[(order.indexOf(root.dataset.theme || "") + 1) % order.length];
    if (next) root.dataset.theme = next; else delete root.dataset.theme;
  }

  function tab(tape) {
    document.body.classList.toggle("tape-shown", tape);
    $("show-tape").setAttribute("aria-pressed", String(tape));
    $("show-detail").setAttribute("aria-pressed", String(!tape));
    follow(stages[moments[position].chapter]);
  }

  const toggle = () => (playing === null ? play() : pause());
  $("first").addEventListener("click", () => go(0));
  $("back").addEventListener("click", () => go(position - 1));
  $("play").addEventListener("click", toggle);
  $("step").addEventListener("click", () => go(position + 1));
  $("last").addEventListener("click", () => go(moments.length - 1));
  $("time").addEventListener("input", (event) => go(Number(event.target.value)));
  $("larger").addEventListener("click", () => zoom(1.25));
  $("smaller").addEventListener("click", () => zoom(0.8));
  $("look").addEventListener("click", look);
  $("show-tape").addEventListener("click", () => tab(true));
  $("show-detail").addEventListener("click", () => tab(false));
  window.addEventListener("resize", () => { resize(); follow(stages[moments[position].chapter]); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    const pressed = ["BUTTON", "SUMMARY"].includes(event.target.tagName);
    const keys = {
      ArrowRight: () => go(position + 1), l: () => go(position + 1), ArrowLeft: () => go(position - 1), h: () => go(position - 1),
      Home: () => go(0), End: () => go(moments.length - 1), " ": pressed ? null : toggle, t: look,
      "+": () => zoom(1.25), "-": () => zoom(0.8),
    };
    if (keys[event.key]) { keys[event.key](); event.preventDefault(); }
  });

  $("time").max = moments.length - 1;
  $("controls").hidden = false;
  document.body.classList.add("scripted");
  const asked = (otherwise) => Number((location.hash.match(/^#(?:step=)?(\d+)$/) || [])[1] ?? otherwise) - first;
  window.addEventListener("hashchange", () => go(asked(first)));
  show(asked(film.opens ?? first));
})();

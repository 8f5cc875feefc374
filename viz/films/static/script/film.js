// The film: its position, which the address names, and the controls.

const first = film.chapters[0].first;
const pictures = film.chapters.map((_, number) => makePicture(number, (at) => go(starts[number] + at), look));
const tapes = film.chapters.map((_, number) => makeTape(number, (at) => go(starts[number] + at)));
const view = makeView($("stage")), source = makeSource(), node = makeNode();
let position = 0, playing = null;

function show(wanted) {
  position = Math.max(0, Math.min(pictureCount - 1, wanted));
  const { chapter, at } = placeOf(position), detail = detailsAt(chapter, at), data = film.chapters[chapter];
  pictures.forEach((one, number) => one.reveal(number === chapter));
  tapes.forEach((one, number) => { if (number !== chapter) one.hide(); });
  $("title").textContent = data.title;
  $("finding").textContent = data.finding;
  $("say").textContent = detail.say;
  $("time").value = position;
  $("time").setAttribute("aria-valuetext", detail.say);
  $("count").textContent = `${first + position} / ${first + pictureCount - 1}`;
  keep();
  pictures[chapter].show(at);
  tapes[chapter].show(at);
  node.show(detail);
  source.show(detail.mark);
  look();
  if (position === pictureCount - 1) pause();
}

// Look at the current box.
function look() {
  const { chapter, at } = placeOf(position);
  view.show(pictures[chapter].svg, pictures[chapter].focus(at));
}

// The address names the step, so that a reload or a copied address opens there. Browsers allow a few changes a second.
const PAUSE = 100; // milliseconds between two changes of the address
let kept = 0, waiting = null;

function keep() {
  const step = first + position, wait = kept + PAUSE - Date.now();
  if (step === first && !location.hash) return;
  clearTimeout(waiting);
  if (wait > 0) {
    waiting = setTimeout(keep, wait);
    return;
  }
  kept = Date.now();
  try {
    history.replaceState(null, "", `#step=${step}`);
  } catch { /* a notebook's frame has no address of its own */ }
}

function asked() {
  const step = (location.hash.match(/^#(?:step=)?(\d+)$/) || [])[1];
  return step === undefined ? null : Number(step) - first;
}

// Time

function play() {
  if (position === pictureCount - 1) show(0);
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

const toggle = () => (playing === null ? play() : pause());

// Colours and panes

function recolour() {
  const order = ["", ...film.themes], root = document.documentElement;
  const next = order[(order.indexOf(root.dataset.theme || "") + 1) % order.length];
  if (next) root.dataset.theme = next; else delete root.dataset.theme;
}

const LONG = 800, LONGEST = 1600; // pixels: a longer pane is printed smaller; on more than one sheet

function smallPrint() {
  const height = $("detail").scrollHeight;
  document.body.classList.toggle("long", height > LONG);
  document.body.classList.toggle("longest", height > LONGEST);
}

const PANES = ["tape", "source", "detail"];

// In a narrow window, one pane is beside the graph.
function choose(pane) {
  for (const one of PANES) {
    document.body.classList.toggle(`${one}-shown`, one === pane);
    $(`show-${one}`).setAttribute("aria-pressed", String(one === pane));
  }
  tapes[placeOf(position).chapter].render();
  source.show(detailsAt(placeOf(position).chapter, placeOf(position).at).mark);
}

const clicks = {
  first: () => go(0), back: () => go(position - 1), play: toggle, step: () => go(position + 1),
  last: () => go(pictureCount - 1), larger: () => view.zoom(1.25), smaller: () => view.zoom(0.8), fit: view.fit,
  look: recolour,
};
const keys = {
  ArrowRight: clicks.step, l: clicks.step, ArrowLeft: clicks.back, h: clicks.back, Home: clicks.first, End: clicks.last,
  " ": toggle, t: recolour, "+": clicks.larger, "=": clicks.larger, "-": clicks.smaller, f: view.fit,
};

for (const [id, action] of Object.entries(clicks)) $(id).addEventListener("click", () => action());
for (const pane of PANES) $(`show-${pane}`).addEventListener("click", () => choose(pane));
$("time").addEventListener("input", (event) => go(Number(event.target.value)));
$("skip").addEventListener("click", (event) => { event.preventDefault(); $("stage").focus(); });
window.addEventListener("resize", () => { tapes[placeOf(position).chapter].render(); look(); });
window.addEventListener("beforeprint", () => { smallPrint(); view.release(); });
window.addEventListener("afterprint", view.take);
window.addEventListener("hashchange", () => { if (asked() !== null) go(asked()); });
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  if (event.key === " " && ["BUTTON", "SUMMARY"].includes(event.target.tagName)) return;
  if (keys[event.key]) { keys[event.key](); event.preventDefault(); }
});

$("time").max = pictureCount - 1;
$("controls").hidden = false;
document.body.classList.add("scripted");
choose("detail");
show(asked() ?? (film.opens === null ? 0 : film.opens - first));

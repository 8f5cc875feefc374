"""Looks at a film's page in a browser: where arrows run through text, at any step."""

from __future__ import annotations

from tests.support.browser import Browser

THROUGH = """
(() => {
  const found = [], seen = new Map();
  const lineOf = (path) => {
    const length = path.getTotalLength(), count = Math.max(8, Math.ceil(length / 2));
    const points = [...Array(count + 1).keys()].map((k) => path.getPointAtLength((length * k) / count));
    const xs = points.map((one) => one.x), ys = points.map((one) => one.y);
    return { arrow: path.closest('.arrow'), points, left: Math.min(...xs), right: Math.max(...xs),
             top: Math.min(...ys), bottom: Math.max(...ys) };
  };
  const lines = [...document.querySelectorAll('svg.graph')].map(
    (svg) => [...svg.querySelectorAll('.arrow path')].map(lineOf));
  // The lines that run through a text, seen or not. The letters are a little smaller than the rectangle around them.
  const through = (text, here) => {
    const box = text.getBBox(), size = parseFloat(getComputedStyle(text).fontSize), words = text.textContent;
    const left = box.x + (words.length - words.trimStart().length) * 0.6 * size + 0.8, right = box.x + box.width - 0.8;
    const base = Number(text.getAttribute('y')), top = base - 0.7 * size + 0.8, bottom = base - 0.4;
    return here.filter((line) => line.left < right && line.right > left && line.top < bottom && line.bottom > top &&
      line.points.some(({x, y}) => left < x && x < right && top < y && y < bottom));
  };
  const time = document.getElementById('time');
  for (let step = 0; step <= Number(time.max); step++) {
    time.value = step;
    time.dispatchEvent(new Event('input'));
    document.querySelectorAll('svg.graph').forEach((svg, number) => {
      if (svg.hasAttribute('hidden')) return;
      for (const text of svg.querySelectorAll('text')) {
        if (!text.textContent.trim() || text.closest('.absent')) continue;
        let known = seen.get(text);
        if (!known || known.words !== text.textContent) {
          known = { words: text.textContent, lines: through(text, lines[number]) };
          seen.set(text, known);
        }
        for (const { arrow } of known.lines) {
          if (arrow.classList.contains('absent')) continue;
          found.push(`${step}: ${arrow.id} runs through '${known.words.trim()}' of ${text.closest('[id]').id}`);
        }
      }
    });
  }
  return found;
})()
"""


def through_text(browser: Browser) -> list[str]:
    """Goes through the film that is open, and says at which steps an arrow runs through a text."""
    found: list[str] = browser.evaluate(THROUGH)
    return found

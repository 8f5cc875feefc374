// The current node: what arrived, what was saved, what was sent, as arrays.

function makeNode() {
  const pane = $("detail");
  let values = [];

  function show(detail) {
    values = detail.values;
    pane.replaceChildren();
    pane.append(make("h2", "", detail.title));
    if (detail.name) pane.append(make("p", "muted", `%${detail.node} ${detail.name}`));
    if (detail.formula) pane.append(make("p", "", detail.formula));
    if (detail.where) {
      const place = make("p", "muted", `${detail.where}  `);
      place.append(make("code", "", detail.code || ""));
      pane.append(place);
    }
    if (detail.error) {
      pane.append(make("h3", "alarm", `✗ ${detail.error[0]}`));
      detail.error.slice(1).forEach((line) => pane.append(make("p", "alarm", line)));
    }
    (detail.variables || []).forEach(([name, value, text]) =>
      section(name, [value === null ? make("code", "", text) : array(value)]));
    (detail.in || []).forEach(([label, value]) => section(label, [array(value)]));
    (detail.saved || []).forEach(([name, note, value]) => section(`saved ${name}: ${note}`, [array(value)]));
    if (detail.leaf) {
      const [before, after] = detail.leaf;
      section(".grad", before === null ? [array(after)] : [array(before), make("span", "", "→"), array(after)]);
    }
    (detail.out || []).forEach(([to, term, before, total, left]) => {
      const wait = left ? `, which waits for ${left} more` : ", which is now ready";
      section(`to ${to}${wait}`, term === null ? [make("span", "muted", "None: adds nothing")]
        : before === null ? [array(term)]
          : [array(before), make("span", "", "+"), array(term), make("span", "", "="), array(total)]);
    });
    (detail.hooks || []).forEach((hook) => pane.append(make("p", "muted", `ran ${hook}`)));
    if (detail.freed && detail.saved) pane.append(make("p", "muted", "its saved tensors were then freed"));
  }

  function section(heading, parts) {
    pane.append(make("h3", "", heading));
    const row = make("div", "sum");
    row.append(...parts);
    pane.append(row);
  }

  function array(number) {
    if (number === null) return make("span", "muted", "None");
    const value = values[number], holder = make("div", "array"), table = make("table", value.exact ? "" : "block");
    value.cells.forEach((cells) => {
      const row = make("tr");
      cells.forEach((cell) => row.append(cellOf(value, cell)));
      table.append(row);
    });
    if (value.cells.length) holder.append(table);
    holder.append(make("div", "about", value.exact ? value.type : `${value.type}: ${value.text}`));
    return holder;
  }

  function cellOf(value, cell) {
    const odd = typeof cell === "string", box = make("td", odd ? "odd" : "", value.exact || odd ? written(cell) : "");
    if (!odd) {
      const part = value.largest ? cell / value.largest : 0;
      box.style.backgroundColor = part < 0 ? `rgb(86 160 233 / ${-part * 0.65})` : `rgb(230 140 0 / ${part * 0.65})`;
      if (!value.exact) box.title = written(cell);
    }
    return box;
  }

  function written(cell) {
    if (typeof cell !== "number") return String(cell);
    const size = Math.abs(cell), plain = size === 0 || (size >= 1e-4 && size < 1e6);
    return plain ? String(cell) : cell.toExponential().replace("e+", "e");
  }

  return { show };
}

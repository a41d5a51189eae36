// The search that chooses a label.

const MOST_FOUND = 12;

// Names that begin with the text come first, then those that contain it.
const search = (text) => {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const rank = (name) => {
    const at = name.toLowerCase().indexOf(wanted);
    return at < 0 ? 2 : Math.min(at, 1);
  };
  const ranked = names.map((name, label) => ({ label, rank: rank(name) }));
  return ranked.filter((r) => r.rank < 2).sort((a, b) => a.rank - b.rank).map((r) => r.label);
};

const startSearch = () => {
  const input = byId("search");
  const list = byId("found");
  let found = [];
  let active = 0;

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const take = (label) => {
    close();
    input.value = names[label];
    choose(label);
  };
  const option = (label, at) =>
    make(
      "li",
      {
        id: `found-${at}`,
        role: "option",
        "aria-selected": String(at === active),
        onpointerdown: (event) => {
          event.preventDefault();
          take(label);
        },
      },
      make("span", {}, names[label]),
      data && make("span", { class: "quiet" }, percent(count(label) / data.rows)),
    );
  const show = () => {
    const shown = found.slice(0, MOST_FOUND);
    const more = found.length - shown.length;
    list.replaceChildren(...shown.map(option));
    const note = (text) => make("li", { class: "quiet", role: "option", "aria-disabled": "true" }, text);
    if (!found.length) list.append(note("No label has this name"));
    if (more > 0) list.append(note(`and ${whole(more)} more`));
    list.hidden = !input.value.trim();
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (found.length) input.setAttribute("aria-activedescendant", `found-${active}`);
  };
  input.addEventListener("input", () => {
    found = search(input.value);
    active = 0;
    show();
  });
  input.addEventListener("keydown", (event) => {
    const last = Math.min(found.length, MOST_FOUND) - 1;
    if (event.key === "ArrowDown") active = Math.min(active + 1, last);
    else if (event.key === "ArrowUp") active = Math.max(active - 1, 0);
    else if (event.key === "Enter" && found.length) return take(found[active]);
    else if (event.key === "Escape") return close();
    else return;
    event.preventDefault();
    show();
  });
  input.addEventListener("blur", close);
};

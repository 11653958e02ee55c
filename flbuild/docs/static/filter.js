// Puts a field over each table that asks for it: rows without every typed word are hidden. Works from a folder.
document.addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll("div.filtered")) {
    let next = place.nextElementSibling;
    while (next && !next.matches("table") && !next.querySelector("table")) next = next.nextElementSibling;
    if (!next) continue;
    const table = next.matches("table") ? next : next.querySelector("table");
    const rows = [...table.tBodies[0].rows];
    const field = document.createElement("input");
    field.type = "search";
    field.placeholder = `filter ${rows.length} rows`;
    field.setAttribute("aria-label", "filter the table");
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
    place.append(field);
  }
});

// Light, dark, or as the system is: set before the page is drawn, and kept.
const KEY = "theme";
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function kept(): Theme {
  try {
    return THEMES.find((it) => it === localStorage.getItem(KEY)) ?? "system";
  } catch {
    return "system";
  }
}

function apply(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

apply(kept());
addEventListener("DOMContentLoaded", () => {
  const select = document.getElementById("theme") as HTMLSelectElement;
  select.value = kept();
  select.addEventListener("change", () => {
    apply(select.value as Theme);
    try {
      localStorage.setItem(KEY, select.value);
    } catch {
      // A browser that keeps nothing shows it all the same.
    }
    dispatchEvent(new Event("theme"));
  });
});

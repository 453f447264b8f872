/** How light the Console is: as the system says, unless one says otherwise. */
export const THEMES = ['system', 'light', 'dark'] as const;

type Theme = (typeof THEMES)[number];

const COOKIE = 'console-theme';
const A_YEAR_S = 31_536_000;

/** What was chosen in this browser. */
export function chosenTheme(): Theme {
  const value = new RegExp(`(?:^|; )${COOKIE}=(\\w+)`).exec(document.cookie)?.[1];
  return THEMES.find((each) => each === value) ?? 'system';
}

/** Takes effect at once, and stays. */
export function chooseTheme(theme: Theme): void {
  document.cookie = `${COOKIE}=${theme}; Path=/console/; Max-Age=${A_YEAR_S}; SameSite=Strict`;
  applyTheme();
}

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = chosenTheme();
}

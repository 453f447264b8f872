import { CONSOLE_PATHS, consoleConfig, readConfig } from '@customer-platform/config';

/** Where a page of the Console is. */
export function consoleAddress(page: keyof typeof CONSOLE_PATHS = 'home'): string {
  const { CONSOLE_URL, PUBLIC_URL } = readConfig(consoleConfig);
  return `${CONSOLE_URL ?? PUBLIC_URL}${CONSOLE_PATHS[page]}`;
}

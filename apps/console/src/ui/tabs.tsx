import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';

export interface Tab {
  label: string;
  link: LinkProps;
}

/** Parts of one page, each with an address of its own. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }): ReactNode {
  return (
    <nav
      ref={showCurrent}
      aria-label={label}
      className="-mb-2 flex gap-1 overflow-x-auto border-b border-line"
    >
      {tabs.map(({ label: text, link }) => (
        <Link
          key={text}
          {...link}
          activeOptions={{ exact: isAbove(link, tabs), includeSearch: false }}
          className="border-b-2 border-transparent px-3 py-2 whitespace-nowrap text-soft -outline-offset-2 hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink"
        >
          {text}
        </Link>
      ))}
    </nav>
  );
}

/** The first tab often has the address that all begin with: it stands for itself alone, the others for what is below them, too. */
function isAbove({ to }: LinkProps, tabs: readonly Tab[]): boolean {
  return tabs.some(({ link }) => link.to !== to && String(link.to).startsWith(String(to)));
}

/** On a narrow screen the tabs scroll: the one that is open is in sight. */
function showCurrent(tabs: HTMLElement | null): void {
  tabs?.querySelector('[aria-current=page]')?.scrollIntoView({ inline: 'center', block: 'nearest' });
}

import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';

/** Names and values of one thing. */
export function Details({ children }: { children: ReactNode }): ReactNode {
  // On a phone each value stands below its name.
  return (
    <dl className="grid grid-cols-[minmax(0,1fr)] gap-x-6 sm:grid-cols-[minmax(7rem,max-content)_minmax(0,1fr)] sm:items-baseline sm:gap-y-2">
      {children}
    </dl>
  );
}

export function Detail({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <>
      <dt className="text-soft">{name}</dt>
      <dd className="mb-2 min-w-0 sm:mb-0">{children}</dd>
    </>
  );
}

/** An id to read and to copy. */
export function Id({ value }: { value: string }): ReactNode {
  return (
    <span className="inline-flex max-w-full items-center gap-1">
      <code className="truncate font-mono text-xs">{value}</code>
      <CopyButton text={value} />
    </span>
  );
}

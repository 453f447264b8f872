import type { ReactNode } from 'react';
import { useFormatter, useNow } from 'use-intl';
import { usePerson } from '../session/use-session.tsx';

const FULL = { dateStyle: 'medium', timeStyle: 'medium' } as const;

/** An instant in the zone of whoever looks; in the organization's on hover. */
export function Time({ at, relative = false }: { at: string; relative?: boolean }): ReactNode {
  const format = useFormatter();
  const { organization } = usePerson();
  const instant = new Date(at);
  const there = format.dateTime(instant, { ...FULL, timeZone: organization.timezone });
  return (
    <time
      dateTime={at}
      title={`${there} · ${organization.timezone}`}
      className="whitespace-nowrap tabular-nums"
    >
      {relative ? <Relative at={instant} /> : format.dateTime(instant, FULL)}
    </time>
  );
}

function Relative({ at }: { at: Date }): ReactNode {
  const now = useNow({ updateInterval: 10_000 });
  return useFormatter().relativeTime(at, now);
}

/** An amount in minor units, as the currency writes it. */
export function Money({ amount, currency }: { amount: number; currency: string }): ReactNode {
  const format = useFormatter();
  const digits =
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 0;
  return (
    <span className="tabular-nums">
      {format.number(amount / 10 ** digits, { style: 'currency', currency })}
    </span>
  );
}

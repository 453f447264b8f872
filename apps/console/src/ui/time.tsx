import type { ReactNode } from 'react';
import { useFormatter, useNow } from 'use-intl';
import { usePerson } from '../session/use-session.tsx';

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
const FULL = { dateStyle: 'medium', timeStyle: 'medium' } as const;

interface TimeProps {
  at: string;
  /** How long ago it was. */
  relative?: boolean;
  /** Hours, minutes and seconds alone, where the day is known. */
  clock?: boolean;
}

/** An instant in the zone of whoever looks; in the organization's on hover. */
export function Time({ at, relative = false, clock = false }: TimeProps): ReactNode {
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
      {relative ? <Relative at={instant} /> : format.dateTime(instant, clock ? CLOCK : FULL)}
    </time>
  );
}

function Relative({ at }: { at: Date }): ReactNode {
  const now = useNow({ updateInterval: 10_000 });
  return useFormatter().relativeTime(at, now);
}

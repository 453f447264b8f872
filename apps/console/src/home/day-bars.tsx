import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';

interface Day {
  /** `2026-11-21`, of UTC. */
  day: string;
  count: number;
}

const HIGH = 96;
const WIDE = 10;
const APART = 3;

/** A bar a day; the same as a table for who does not see it. */
export function DayBars({ label, days }: { label: string; days: readonly Day[] }): ReactNode {
  const t = useTranslations('home');
  const format = useFormatter();
  const most = Math.max(1, ...days.map(({ count }) => count));
  const total = days.reduce((sum, { count }) => sum + count, 0);
  const named = (day: string): string =>
    format.dateTime(new Date(day), { dateStyle: 'medium', timeZone: 'UTC' });
  return (
    <figure className="rounded-panel border border-line p-4">
      <figcaption className="flex items-baseline gap-3">
        <span className="grow font-medium">{label}</span>
        <span className="tabular-nums">{format.number(total)}</span>
      </figcaption>
      <svg
        aria-hidden
        viewBox={`0 0 ${days.length * (WIDE + APART)} ${HIGH}`}
        preserveAspectRatio="none"
        className="mt-3 h-24 w-full text-accent"
      >
        {days.map(({ day, count }, at) => {
          const height = count === 0 ? 1 : Math.max(2, (count / most) * HIGH);
          return (
            <rect
              key={day}
              x={at * (WIDE + APART)}
              y={HIGH - height}
              width={WIDE}
              height={height}
              rx="1.5"
              fill="currentColor"
              opacity={count === 0 ? 0.25 : 1}
            >
              <title>{`${named(day)}: ${format.number(count)}`}</title>
            </rect>
          );
        })}
      </svg>
      <details className="mt-2">
        <summary className="w-fit text-xs text-soft">{t('asTable')}</summary>
        <table aria-label={label} className="mt-2 w-full text-xs">
          <tbody>
            {days.toReversed().map(({ day, count }) => (
              <tr key={day}>
                <th scope="row" className="font-normal">
                  {named(day)}
                </th>
                <td className="text-end tabular-nums">{format.number(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

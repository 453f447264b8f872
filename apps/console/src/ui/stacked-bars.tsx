import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';

/** A part of every bar; the colours are roles of the theme. */
interface BarPart {
  name: string;
  tone: 'accent' | 'good' | 'warn' | 'bad' | 'edge';
}

interface Bar {
  key: string;
  name: string;
  /** From the ground upwards, one for each part. */
  counts: readonly number[];
}

const HIGH = 120;
const WIDE = 10;
const APART = 2;

const TONES: Record<BarPart['tone'], { fill: string; dot: string }> = {
  accent: { fill: 'fill-accent', dot: 'bg-accent' },
  good: { fill: 'fill-good', dot: 'bg-good' },
  warn: { fill: 'fill-warn', dot: 'bg-warn' },
  bad: { fill: 'fill-bad', dot: 'bg-bad' },
  edge: { fill: 'fill-edge', dot: 'bg-edge' },
};

interface StackedBarsProps {
  label: string;
  /** What the first column of the table holds. */
  of: string;
  parts: readonly BarPart[];
  bars: readonly Bar[];
}

/** A bar for each period, in parts; the same as a table for who does not see it. */
export function StackedBars({ label, of, parts, bars }: StackedBarsProps): ReactNode {
  const t = useTranslations('ui');
  const format = useFormatter();
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  const most = Math.max(1, ...bars.map(({ counts }) => sum(counts)));
  return (
    <figure className="flex min-w-0 flex-col gap-3 rounded-panel border border-line p-4">
      <figcaption className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <span className="grow font-medium">{label}</span>
        {parts.map(({ name, tone }) => (
          <span key={name} className="inline-flex items-center gap-1.5 text-xs text-soft">
            <span aria-hidden className={`size-2.5 rounded-full ${TONES[tone].dot}`} />
            {name}
          </span>
        ))}
      </figcaption>
      <svg
        aria-hidden
        viewBox={`0 0 ${String(bars.length * (WIDE + APART))} ${String(HIGH)}`}
        preserveAspectRatio="none"
        className="h-32 w-full border-b border-line"
      >
        {bars.map(({ key, name, counts }, at) => (
          <g key={key}>
            <title>
              {[
                name,
                ...parts.map((part, which) => `${part.name}: ${format.number(counts[which] ?? 0)}`),
              ].join('\n')}
            </title>
            {stacked(counts, most).map(({ y, height }, which) => (
              <rect
                key={parts[which]?.name}
                x={at * (WIDE + APART)}
                y={y}
                width={WIDE}
                height={height}
                className={TONES[parts[which]?.tone ?? 'edge'].fill}
              />
            ))}
          </g>
        ))}
      </svg>
      <div className="flex justify-between text-xs text-soft" aria-hidden>
        <span>{bars[0]?.name}</span>
        <span>{bars.length > 1 ? bars.at(-1)?.name : ''}</span>
      </div>
      <details>
        <summary className="w-fit text-xs text-soft">{t('asTable')}</summary>
        <div role="region" aria-label={label} tabIndex={0} className="mt-2 max-h-80 overflow-auto">
          <BarTable label={label} of={of} parts={parts} bars={bars} />
        </div>
      </details>
    </figure>
  );
}

function BarTable({ label, of, parts, bars }: StackedBarsProps): ReactNode {
  const format = useFormatter();
  return (
    <table aria-label={label} className="w-full text-xs">
      <thead>
        <tr>
          <th scope="col" className="font-medium">
            {of}
          </th>
          {parts.map(({ name }) => (
            <th key={name} scope="col" className="pl-3 text-end font-medium">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {bars.toReversed().map(({ key, name, counts }) => (
          <tr key={key}>
            <th scope="row" className="font-normal whitespace-nowrap">
              {name}
            </th>
            {counts.map((count, which) => (
              <td key={parts[which]?.name} className="pl-3 text-end tabular-nums">
                {format.number(count)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Where each part of a bar stands. */
function stacked(counts: readonly number[], most: number): { y: number; height: number }[] {
  let below = 0;
  return counts.map((count) => {
    const height = (count / most) * HIGH;
    below += height;
    return { y: HIGH - below, height };
  });
}

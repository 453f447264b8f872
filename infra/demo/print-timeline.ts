interface TimelineItem {
  source: string;
  type: string;
  occurred_at: string;
  correlation_id: string | null;
  title: string;
}

const MARK: Record<string, string> = { event: '●', transaction: '★', send: '✉', consent: '§' };

/** The timeline as a person reads it: newest day first, what one event led to gathered beneath it. */
export function renderTimeline(items: readonly TimelineItem[]): string {
  const lines: string[] = [];
  let day = '';
  for (const chain of chainsOf(items)) {
    const [first, ...rest] = chain as [TimelineItem, ...TimelineItem[]];
    if (first.occurred_at.slice(0, 10) !== day) {
      day = first.occurred_at.slice(0, 10);
      lines.push(`\n  ${day}`);
    }
    lines.push(`  ${clock(first)}  ${MARK[first.type] ?? '·'} ${first.title}`);
    for (const item of rest) lines.push(`  ${' '.repeat(8)}    └ ${MARK[item.type] ?? '·'} ${item.title}`);
    if (rest.length > 0) lines.push(`  ${' '.repeat(8)}      correlation ${first.correlation_id}`);
  }
  return lines.join('\n');
}

const clock = ({ occurred_at: at }: TimelineItem): string => at.slice(11, 19);

/** Items with one correlation id together, the event first, in the order in which their newest item stands. */
function chainsOf(items: readonly TimelineItem[]): TimelineItem[][] {
  const chains = new Map<string, TimelineItem[]>();
  items.forEach((item, index) => {
    const key = item.correlation_id ?? `alone-${index}`;
    chains.set(key, [...(chains.get(key) ?? []), item]);
  });
  const rank = ({ type }: TimelineItem): number => ['event', 'transaction', 'send'].indexOf(type);
  return [...chains.values()].map((chain) => chain.sort((a, b) => rank(a) - rank(b)));
}

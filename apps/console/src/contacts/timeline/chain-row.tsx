import { ChevronRight, LoaderCircle } from 'lucide-react';
import { createElement, memo, type ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { usePerson } from '../../session/use-session.tsx';
import { Badge } from '../../ui/badge.tsx';
import { comingOf, headOf, pointsOf, type Chain, type Item } from './chains.ts';
import { ChainSteps } from './chain-steps.tsx';
import { summaryOf } from './summary.ts';
import { iconOf, toneOf, useWords } from './words.tsx';

interface ChainRowProps {
  contactId: string;
  chain: Chain;
  /** All that is loaded, by which entries into segments find the event that led to them. */
  all: readonly Item[];
  now: number;
  open: boolean;
  onToggle: (key: string) => void;
}

const SENDS_NAMED = 2;

/** One chain in a line: what began it, what came of it, and when; opened, all its steps. Scrolling draws no row again. */
export const ChainRow = memo(function ChainRow(props: ChainRowProps): ReactNode {
  const { contactId, chain, all, now, open, onToggle } = props;
  const words = useWords();
  const { number } = useFormatter();
  const head = headOf(chain);
  const summary = summaryOf(head, number);
  const id = `chain-${chain.key}`;
  return (
    <div className={`rounded-panel border ${open ? 'border-line bg-raised' : 'border-transparent'}`}>
      <button
        type="button"
        data-chain
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => onToggle(chain.key)}
        className="flex w-full flex-wrap items-center gap-x-3 gap-y-1 rounded-panel px-2 py-2 text-start -outline-offset-2 hover:bg-hover sm:flex-nowrap"
      >
        <ChevronRight
          aria-hidden
          className={`size-4 shrink-0 text-soft transition-transform duration-100 ${open ? 'rotate-90' : ''}`}
        />
        <span className="grid size-7 shrink-0 place-items-center rounded-full bg-accent-soft text-accent">
          {createElement(iconOf(head), {
            role: 'img',
            'aria-label': words.type(head.type),
            className: 'size-4',
          })}
        </span>
        <span dir="auto" className="line-clamp-2 min-w-0 grow basis-32 font-medium">
          {words.title(head)}
          {summary !== '' && <bdi className="ml-2 inline-block font-normal text-soft">{summary}</bdi>}
        </span>
        <Outcome chain={chain} now={now} head={head} />
        <Clock at={chain.at} />
      </button>
      {open && (
        <div id={id} className="border-t border-line px-3 py-4 sm:px-4">
          <ChainSteps contactId={contactId} chain={chain} all={all} now={now} />
        </div>
      )}
    </div>
  );
});

/** What came of it, in badges. */
function Outcome({ chain, now, head }: { chain: Chain; now: number; head: Item }): ReactNode {
  const t = useTranslations('contacts');
  const words = useWords();
  const points = pointsOf(chain);
  const sends = chain.items.flatMap((item) => (item.type === 'send' ? [item.data] : []));
  const others = chain.items.filter(
    ({ type, id }) => type !== 'send' && type !== 'transaction' && id !== head.id,
  );
  const { mayFollow, inFlight } = comingOf(chain, now);
  return (
    <span className="order-last flex shrink-0 basis-full flex-wrap items-center gap-1.5 pl-14 empty:hidden sm:order-none sm:basis-auto sm:pl-0">
      {(mayFollow || inFlight > 0) && (
        <span className="inline-flex items-center gap-1 text-xs text-soft">
          <LoaderCircle aria-hidden className="size-3.5 animate-spin" />
          {t('timeline.coming')}
        </span>
      )}
      {others.length > 0 && <Badge>{t('timeline.moreEvents', { count: others.length })}</Badge>}
      {points !== undefined && head.type !== 'transaction' && (
        <Badge tone={points >= 0 ? 'good' : 'neutral'}>{t('timeline.points', { points })}</Badge>
      )}
      {sends.slice(0, SENDS_NAMED).map(({ id, channel, state }) => (
        <Badge key={id} tone={toneOf(state)}>
          {words.channel(channel)} · {words.state(state)}
        </Badge>
      ))}
      {sends.length > SENDS_NAMED && (
        <Badge>{t('timeline.moreSends', { count: sends.length - SENDS_NAMED })}</Badge>
      )}
    </span>
  );
}

/** The day stands above; in the organization's zone on hover. */
function Clock({ at }: { at: string }): ReactNode {
  const format = useFormatter();
  const { organization } = usePerson();
  const instant = new Date(at);
  const { timezone: timeZone } = organization;
  const there = format.dateTime(instant, { dateStyle: 'medium', timeStyle: 'medium', timeZone });
  return (
    <time dateTime={at} title={`${there} · ${timeZone}`} className="shrink-0 text-xs text-soft tabular-nums">
      {format.dateTime(instant, { timeStyle: 'medium', hourCycle: 'h23' })}
    </time>
  );
}

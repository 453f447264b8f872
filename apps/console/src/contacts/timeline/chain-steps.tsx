import { Filter, LoaderCircle, type LucideIcon } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Id } from '../../ui/details.tsx';
import { Json } from '../../ui/json.tsx';
import { TimeDifference } from '../../ui/time-difference.tsx';
import { Note } from '../../ui/notices.tsx';
import { Time } from '../../ui/time.tsx';
import { comingOf, entriesOf, stepsOf, type Chain, type Item, type Step } from './chains.ts';
import { SendStates } from './send-states.tsx';
import { useHistories, useMemberships, useOpenedChain, type SendHistory } from './use-chain.ts';
import { glanceOf, iconOf, useWords } from './words.tsx';

const STEPS_AT_FIRST = 50;
const SEGMENTS_EVERY_MS = 4_000;
const LATE_MS = 60_000;

interface ChainStepsProps {
  contactId: string;
  chain: Chain;
  all: readonly Item[];
  now: number;
}

/** An opened chain: event, segments entered, points, each message with its states; and what is still to come. */
export function ChainSteps({ contactId, chain: shown, all, now: listed }: ChainStepsProps): ReactNode {
  const t = useTranslations('contacts');
  const words = useWords();
  const [limit, setLimit] = useState(STEPS_AT_FIRST);
  const { chain, silent, more, now } = useOpenedChain(contactId, shown, listed);
  const coming = comingOf(chain, now);
  const memberships = useMemberships(contactId, coming.mayFollow && SEGMENTS_EVERY_MS);
  const histories = useHistories(chain);
  const steps = stepsOf(chain, entriesOf(chain, all, memberships?.entries ?? []));
  return (
    <div className="flex flex-col gap-3">
      {silent.length > 0 && (
        <Note tone="warn">
          {t('timeline.silentHere', { sources: silent.map((source) => words.source(source)).join(', ') })}
        </Note>
      )}
      <ol aria-label={t('timeline.steps')} className="flex flex-col">
        {steps.slice(0, limit).map((step, index) => (
          <StepRow
            key={step.kind === 'item' ? step.item.id : `${step.entry.segmentId}${step.at}`}
            step={step}
            first={index === 0}
            history={step.kind === 'item' ? histories.get(step.item.id) : undefined}
          />
        ))}
        {coming.mayFollow && <ComingRow chain={chain} />}
      </ol>
      {steps.length > limit && (
        <Button onClick={() => setLimit(limit + STEPS_AT_FIRST)}>
          {t('timeline.moreSteps', { count: steps.length - limit })}
        </Button>
      )}
      {more && <p className="text-xs text-soft">{t('timeline.firstSteps', { count: chain.items.length })}</p>}
      {memberships?.more === true && <p className="text-xs text-soft">{t('timeline.moreSegments')}</p>}
      {chain.correlationId !== undefined && (
        <p className="flex flex-wrap items-center gap-x-2 text-xs text-soft">
          {t('timeline.correlation')} <Id value={chain.correlationId} />
        </p>
      )}
    </div>
  );
}

interface StepRowProps {
  step: Step;
  first: boolean;
  history: SendHistory | undefined;
}

function StepRow({ step, first, history }: StepRowProps): ReactNode {
  const t = useTranslations('contacts');
  const words = useWords();
  const isItem = step.kind === 'item';
  return (
    <Rung icon={isItem ? iconOf(step.item) : Filter}>
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span dir="auto" className="font-medium">
          {isItem ? words.title(step.item) : t('timeline.entered', { segment: step.entry.name })}
        </span>
        {first ? (
          <span className="text-xs text-soft">
            <Time at={step.at} />
          </span>
        ) : (
          <TimeDifference ms={step.afterMs} />
        )}
      </p>
      {isItem ? (
        <Facts item={step.item} history={history} />
      ) : (
        <p className="text-soft">{t('timeline.because', { cause: words.cause(step.entry.cause) })}</p>
      )}
    </Rung>
  );
}

/** A step at the line that joins them. */
function Rung({ icon: Icon, spins, children }: { icon: LucideIcon; spins?: boolean; children: ReactNode }) {
  return (
    <li className="relative flex gap-3 pb-4 before:absolute before:top-7 before:bottom-0 before:left-3.5 before:w-px before:bg-line last:pb-0 last:before:hidden">
      <span className="grid size-7 shrink-0 place-items-center rounded-full border border-line bg-canvas text-soft">
        <Icon aria-hidden className={`size-3.5 ${spins === true ? 'animate-spin' : ''}`} />
      </span>
      <div className="flex min-w-0 grow flex-col gap-1 pt-1">{children}</div>
    </li>
  );
}

function Facts({ item, history }: { item: Item; history: SendHistory | undefined }): ReactNode {
  switch (item.type) {
    case 'event':
      return <EventFacts item={item} />;
    case 'consent':
      return <ConsentFacts item={item} />;
    case 'transaction':
      return item.data.reason === null ? null : <p className="text-soft">{item.data.reason}</p>;
    case 'send':
      return <SendStates send={item.data} history={history} />;
    default:
      return null;
  }
}

function EventFacts({ item }: { item: Item & { type: 'event' } }): ReactNode {
  const t = useTranslations('contacts');
  const { occurred_at, received_at, properties, traits, warnings } = item.data;
  const late = Date.parse(received_at) - Date.parse(occurred_at);
  const told = properties ?? traits ?? {};
  return (
    <>
      {late > LATE_MS && (
        <p className="text-soft">
          {t('timeline.happened')} <Time at={occurred_at} />
        </p>
      )}
      {warnings.length > 0 && (
        <ul className="text-warn">
          {warnings.map(({ pointer, code }) => (
            <li key={`${pointer}${code}`}>
              <code className="font-mono text-xs">{pointer}</code> {code}
            </li>
          ))}
        </ul>
      )}
      <p dir="auto" className="line-clamp-2 text-soft empty:hidden">
        {glanceOf(told)}
      </p>
      {Object.keys(told).length > 0 && (
        <details>
          <summary className="w-fit text-soft hover:text-ink">{t('timeline.properties')}</summary>
          <div className="mt-2">
            <Json label={t('timeline.properties')} value={told} />
          </div>
        </details>
      )}
    </>
  );
}

function ConsentFacts({ item }: { item: Item & { type: 'consent' } }): ReactNode {
  const words = useWords();
  const { channel, method, notice_version } = item.data;
  const facts = [words.channel(channel), method, notice_version].filter((fact) => fact !== null);
  return <p className="text-soft">{facts.join(' · ')}</p>;
}

/** What follows from an event is on its way, or nothing does: that is known after some seconds. */
function ComingRow({ chain }: { chain: Chain }): ReactNode {
  const t = useTranslations('contacts');
  const has = (type: Item['type']): boolean => chain.items.some((item) => item.type === type);
  const missing = has('transaction') ? (has('send') ? 'more' : 'sends') : has('send') ? 'points' : 'both';
  return (
    <Rung icon={LoaderCircle} spins>
      <p role="status" className="flex flex-wrap items-center gap-2 text-soft">
        <Badge tone="accent">{t('timeline.coming')}</Badge>
        {t(`timeline.follows.${missing}`)}
      </p>
    </Rung>
  );
}

import { Check, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import { Json } from '../ui/json.tsx';
import { Time } from '../ui/time.tsx';
import { inOneUnit } from './duration.ts';
import { isLeaf } from './edit-rule.ts';
import { actualOf, innerOf, resultOf } from './explained.ts';
import {
  isOneOf,
  valueOf,
  CONSENT_STATES,
  type EventLeaf,
  type Leaf,
  type Node,
  type TestDraft,
} from './rule.ts';

interface RuleViewProps {
  node: Node;
  /** The same node with what it says of one contact. */
  explained?: unknown;
}

/** A rule in words. */
export function RuleView({ node, explained }: RuleViewProps): ReactNode {
  const t = useTranslations('segments');
  if (isLeaf(node))
    return (
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <Result of={explained} />
        <Sentence leaf={node} />
        <Actual of={explained} />
      </div>
    );
  const inside = node.kind === 'not' ? [node.node] : node.nodes;
  return (
    <div>
      <p className="flex items-baseline gap-3 font-medium">
        <Result of={explained} />
        {t(`kinds.${node.kind}`)}
      </p>
      <ul className="mt-1.5 flex flex-col gap-1.5 border-l-2 border-line pl-3 md:pl-4">
        {inside.map((inner, at) => (
          <li key={inner.key}>
            <RuleView node={inner} explained={innerOf(explained, node.kind, at)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Whether it holds: by a word and a sign, not by colour alone. */
function Result({ of }: { of: unknown }): ReactNode {
  const t = useTranslations('segments');
  const result = resultOf(of);
  if (result === undefined) return null;
  const Icon = result ? Check : X;
  return (
    <Badge tone={result ? 'good' : 'bad'}>
      <Icon aria-hidden className="mr-1 size-3" />
      {t(result ? 'holds' : 'fails')}
    </Badge>
  );
}

function Actual({ of }: { of: unknown }): ReactNode {
  const t = useTranslations('segments');
  const actual = actualOf(of);
  if (actual === undefined) return null;
  if (actual === 'hidden') return <span className="text-xs text-soft">{t('actualHidden')}</span>;
  if ('value' in actual)
    return (
      <span className="text-soft">
        {actual.value === null ? (
          t('actualNone')
        ) : (
          <>
            {t('actual')} <Value value={actual.value} />
          </>
        )}
      </span>
    );
  return (
    <span className="text-soft">
      {t('actualCount', { count: actual.count, exact: String(actual.exact) })}
      {actual.after !== null && (
        <>
          {' '}
          {t('since')} <Time at={actual.after} />
        </>
      )}
    </span>
  );
}

function Sentence({ leaf }: { leaf: Leaf }): ReactNode {
  const t = useTranslations('segments');
  switch (leaf.kind) {
    case 'attribute':
      return (
        <span>
          <Name text={leaf.path} /> <Test test={leaf} />
        </span>
      );
    case 'consent':
      return (
        <span>
          {t('consentTo')} <Name text={leaf.purpose} />{' '}
          {leaf.channel != null && (
            <>
              {t('by')} <Name text={leaf.channel} />{' '}
            </>
          )}
          {t('is')}{' '}
          {isOneOf(CONSENT_STATES, leaf.status) ? t(`statuses.${leaf.status}`) : <Name text={leaf.status} />}
        </span>
      );
    case 'event':
      return <EventSentence leaf={leaf} />;
    case 'unknown':
      return <Json value={leaf.json} label={t('kinds.unknown')} />;
  }
}

function EventSentence({ leaf: { event, where = [], count, within } }: { leaf: EventLeaf }): ReactNode {
  const t = useTranslations('segments');
  return (
    <span>
      <Name text={event} />{' '}
      {t('times', { op: t(`countOps.${count?.op ?? 'gte'}`), count: Number(count?.text ?? 1) })}
      {within !== undefined && (
        <>
          {' '}
          {t('withinLast')} <Window text={within} />
        </>
      )}
      {where.map((condition, at) => (
        <span key={condition.key}>
          {' '}
          {t(at === 0 ? 'where' : 'and')} <Name text={condition.property} /> <Test test={condition} />
        </span>
      ))}
    </span>
  );
}

function Test({ test: { op, drafts } }: { test: TestDraft }): ReactNode {
  const t = useTranslations('segments');
  const [first] = drafts;
  if (op === 'exists') return t(first?.text === 'true' ? 'isThere' : 'isAbsent');
  return (
    <>
      {t(`ops.${op}`)}{' '}
      {op === 'within_last' ? (
        <Window text={first?.text ?? ''} />
      ) : (
        drafts.map((draft, at) => (
          <span key={at}>
            {at > 0 && ', '}
            <Value value={valueOf(draft)} />
          </span>
        ))
      )}
    </>
  );
}

function Window({ text }: { text: string }): ReactNode {
  const t = useTranslations('segments');
  const { number } = useFormatter();
  const said = inOneUnit(text);
  if (said === undefined) return <Name text={text} />;
  return <span>{`${number(Number(said.amount))} ${t(`units.${said.unit}`)}`}</span>;
}

function Name({ text }: { text: string }): ReactNode {
  return <code className="rounded-control bg-ground px-1 font-mono text-xs">{text}</code>;
}

/** Texts as JSON, so that one is told apart from a number, which is written as the page's language does. */
function Value({ value }: { value: unknown }): ReactNode {
  const { number } = useFormatter();
  const text =
    typeof value === 'number' ? number(value, { maximumFractionDigits: 20 }) : JSON.stringify(value);
  return <Name text={text ?? ''} />;
}

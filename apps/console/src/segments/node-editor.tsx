import type { KeyboardEvent, ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { FaultText } from '../ui/problem-words.tsx';
import { AddButtons } from './add-buttons.tsx';
import { useBuilder, useReplace } from './builder-context.ts';
import { isLeaf } from './edit-rule.ts';
import { AttributeFields, ConsentFields } from './leaf-fields.tsx';
import { EventFields } from './event-fields.tsx';
import { NodeActions } from './node-actions.tsx';
import type { Group, Node } from './rule.ts';
import { useMoves } from './use-moves.ts';
import { Json } from '../ui/json.tsx';

interface NodeEditorProps {
  node: Node;
  /** Where it is, as the API's problems say it. */
  pointer: string;
  /** Its place among its neighbours, from 0; undefined where it has none. */
  place: { at: number; of: number } | undefined;
}

/** One node of the rule: what it is, what one can do with it, and what is inside. */
export function NodeEditor({ node, pointer, place }: NodeEditorProps): ReactNode {
  const t = useTranslations('segments');
  const moves = useMoves(node);
  const { problems } = useBuilder();
  // What is wrong with a field of a condition stands at that field.
  const problem =
    problems.get(pointer) ?? (isLeaf(node) ? undefined : problems.get(`${pointer}/${node.kind}`));
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const target = event.target as HTMLElement;
    // In fields these keys are the browser's.
    if (!event.altKey || target.closest('input, select, textarea') !== null) return;
    const made = {
      ArrowUp: moves.up,
      ArrowDown: moves.down,
      ArrowLeft: moves.lift,
      ArrowRight: moves.nest,
      Backspace: moves.remove,
      Delete: moves.remove,
    }[event.key];
    if (made === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    made();
  };
  const named = place === undefined ? '' : ` ${t('place', { at: place.at + 1, of: place.of })}`;
  return (
    <div
      data-node={node.key}
      role="group"
      aria-label={t(`kinds.${node.kind}`) + named}
      tabIndex={-1}
      onKeyDown={onKeyDown}
      className={isLeaf(node) ? 'rounded-control border border-line bg-raised p-2.5' : ''}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Kind node={node} />
        <NodeActions moves={moves} isRoot={pointer === '/rule'} />
      </div>
      {problem !== undefined && (
        <p className="mt-1 text-xs text-bad">
          <FaultText fault={problem} />
        </p>
      )}
      <Content node={node} pointer={pointer} />
    </div>
  );
}

function Kind({ node }: { node: Node }): ReactNode {
  const t = useTranslations('segments');
  const replace = useReplace(node as Group);
  if (node.kind !== 'all' && node.kind !== 'any')
    return <span className="grow text-xs font-medium text-soft">{t(`kinds.${node.kind}`)}</span>;
  return (
    <span className="grow">
      <select
        aria-label={t('groupKind')}
        className="field w-auto! font-medium"
        value={node.kind}
        onChange={(event) => replace({ kind: event.target.value as 'all' | 'any' })}
      >
        <option value="all">{t('kinds.all')}</option>
        <option value="any">{t('kinds.any')}</option>
      </select>
    </span>
  );
}

function Content({ node, pointer }: { node: Node; pointer: string }): ReactNode {
  const t = useTranslations('segments');
  switch (node.kind) {
    case 'all':
    case 'any':
      return (
        <div className="mt-2 flex flex-col gap-2 border-l-2 border-line pl-2 md:pl-4">
          {node.nodes.map((inner, at) => (
            <NodeEditor
              key={inner.key}
              node={inner}
              pointer={`${pointer}/${node.kind}/${at}`}
              place={{ at, of: node.nodes.length }}
            />
          ))}
          <AddButtons group={node} />
        </div>
      );
    case 'not':
      return (
        <div className="mt-2 border-l-2 border-bad pl-2 md:pl-4">
          <NodeEditor node={node.node} pointer={`${pointer}/not`} place={undefined} />
        </div>
      );
    case 'attribute':
      return <AttributeFields node={node} pointer={pointer} />;
    case 'consent':
      return <ConsentFields node={node} pointer={pointer} />;
    case 'event':
      return <EventFields node={node} pointer={pointer} />;
    case 'unknown':
      return (
        <div className="mt-2 flex flex-col gap-2">
          <p className="text-xs text-soft">{t('unknownLead')}</p>
          <Json value={node.json} label={t('kinds.unknown')} />
        </div>
      );
  }
}

import { useEffect, useRef, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import type { Fault } from '../ui/problem-at.ts';
import { NodeEditor } from './node-editor.tsx';
import { BuilderProvider, type Builder } from './builder-context.ts';
import type { NewKey, Node } from './rule.ts';

interface RuleBuilderProps {
  root: Node;
  onChange: (root: Node) => void;
  newKey: NewKey;
  problems: ReadonlyMap<string, Fault>;
}

/** A rule as a tree that one adds to, nests, moves and takes from; all of it by keyboard too. */
export function RuleBuilder({ root, onChange, newKey, problems }: RuleBuilderProps): ReactNode {
  const t = useTranslations('segments');
  const element = useRef<HTMLDivElement>(null);
  const focus = useRef<string>(undefined);
  useEffect(() => {
    const key = focus.current;
    focus.current = undefined;
    if (key === undefined) return;
    // What was moved keeps the focus, what is new gets it: at its first field, where one goes on writing.
    const node = element.current?.querySelector<HTMLElement>(`[data-node="${key}"]`);
    (node?.querySelector<HTMLElement>(':scope > [data-fields] :is(input, select)') ?? node)?.focus();
  }, [root]);
  const builder: Builder = {
    root,
    newKey,
    problems,
    change: (changed, key) => {
      focus.current = key;
      onChange(changed);
    },
  };
  return (
    <BuilderProvider value={builder}>
      <div ref={element} role="group" aria-label={t('rule')}>
        <NodeEditor node={root} pointer="/rule" place={undefined} />
        <p className="mt-2 text-xs text-soft">{t('keys')}</p>
      </div>
    </BuilderProvider>
  );
}

import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { useBuilder } from './builder-context.ts';
import { add, holdersOf, leavesIn } from './edit-rule.ts';
import { newAttribute, newConsent, newEvent } from './edit-test.ts';
import { DEEPEST, MOST_LEAVES, type Group, type NewKey, type Node } from './rule.ts';

const NEW: Record<'event' | 'attribute' | 'consent' | 'group', (newKey: NewKey) => Node> = {
  event: newEvent,
  attribute: newAttribute,
  consent: newConsent,
  group: (newKey) => ({ key: newKey(), kind: 'any', nodes: [newAttribute(newKey)] }),
};

/** Adds a condition, or a group, to a group. */
export function AddButtons({ group }: { group: Group }): ReactNode {
  const t = useTranslations('segments');
  const { root, change, newKey } = useBuilder();
  if (leavesIn(root) >= MOST_LEAVES) return <p className="text-xs text-soft">{t('full')}</p>;
  const depth = (holdersOf(root, group.key)?.length ?? 0) + 1;
  const adding = (kind: keyof typeof NEW): void => {
    const node = NEW[kind](newKey);
    change(add(root, group.key, node), node.key);
  };
  return (
    <div className="flex flex-wrap gap-1">
      {(Object.keys(NEW) as (keyof typeof NEW)[]).map((kind) => (
        <Button
          key={kind}
          look="quiet"
          disabled={depth + (kind === 'group' ? 2 : 1) > DEEPEST}
          onClick={() => adding(kind)}
          className="px-2!"
        >
          <Plus aria-hidden className="size-4" />
          {t(`add.${kind}`)}
        </Button>
      ))}
    </div>
  );
}

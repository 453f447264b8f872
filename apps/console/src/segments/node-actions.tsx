import { ArrowDown, ArrowUp, CircleSlash, Group as GroupIcon, IndentDecrease, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { IconButton } from '../ui/button.tsx';
import type { Moves } from './use-moves.ts';

const ACTIONS = [
  ['up', ArrowUp],
  ['down', ArrowDown],
  ['nest', GroupIcon],
  ['negate', CircleSlash],
  ['lift', IndentDecrease],
  ['remove', Trash2],
] as const;

/** What one can do with a node. */
export function NodeActions({ moves, isRoot }: { moves: Moves; isRoot: boolean }): ReactNode {
  const t = useTranslations('segments');
  return (
    <span className="flex">
      {ACTIONS.map(([name, Icon]) => {
        const made = moves[name];
        if (made === undefined && isRoot) return null;
        return (
          <IconButton
            key={name}
            label={t(`moves.${name}`)}
            disabled={made === undefined}
            onClick={made}
            className="min-h-8! min-w-8!"
          >
            <Icon aria-hidden className="size-4" />
          </IconButton>
        );
      })}
    </span>
  );
}

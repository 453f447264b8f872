import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button, IconButton } from '../ui/button.tsx';
import { Checkbox, Field, TextField } from '../ui/form.tsx';
import { useBuilder, useReplace } from './builder-context.ts';
import { DurationField } from './duration-field.tsx';
import { COUNT_OPS, type Condition, type CountOp, type EventLeaf } from './rule.ts';
import { TestFields } from './test-fields.tsx';

const ONCE: NonNullable<EventLeaf['count']> = { op: 'gte', text: '1' };

/** How often an event happened, in which window, and with which properties. */
export function EventFields({ node, pointer }: { node: EventLeaf; pointer: string }): ReactNode {
  const t = useTranslations('segments');
  const replace = useReplace(node);
  const { problems } = useBuilder();
  const { event, count = ONCE, within } = node;
  return (
    <div data-fields className="mt-1 flex flex-col gap-3">
      <div className="grid gap-3 sm:grid-cols-3">
        <TextField
          label={t('event')}
          className="field font-mono"
          spellCheck={false}
          value={event}
          error={problems.get(`${pointer}/event`)}
          onChange={({ target }) => replace({ event: target.value })}
        />
        <Field label={t('count')} error={problems.get(`${pointer}/count/value`)}>
          {(tie) => (
            <span className="flex gap-1">
              <select
                aria-label={t('countOp')}
                className="field"
                value={count.op}
                onChange={({ target }) => replace({ count: { ...count, op: target.value as CountOp } })}
              >
                {COUNT_OPS.map((op) => (
                  <option key={op} value={op}>
                    {t(`countOps.${op}`)}
                  </option>
                ))}
              </select>
              <input
                className="field w-20!"
                inputMode="numeric"
                autoComplete="off"
                value={count.text}
                onChange={({ target }) => replace({ count: { ...count, text: target.value } })}
                {...tie}
              />
            </span>
          )}
        </Field>
        <div className="flex flex-col gap-1">
          <Checkbox
            label={t('inWindow')}
            checked={within !== undefined}
            onChange={({ target }) => replace({ within: target.checked ? 'P30D' : undefined })}
          />
          {within !== undefined && (
            <DurationField
              label={t('within')}
              value={within}
              error={problems.get(`${pointer}/within`)}
              onChange={(changed) => replace({ within: changed })}
            />
          )}
        </div>
      </div>
      <Conditions node={node} pointer={pointer} />
    </div>
  );
}

function Conditions({ node, pointer }: { node: EventLeaf; pointer: string }): ReactNode {
  const t = useTranslations('segments');
  const replace = useReplace(node);
  const { newKey, problems } = useBuilder();
  const where = node.where ?? [];
  const set = (changed: readonly Condition[]): void =>
    replace({ where: changed.length === 0 ? undefined : changed });
  const more = (): Condition => ({
    key: newKey(),
    property: '',
    op: 'eq',
    drafts: [{ as: 'text', text: '' }],
  });
  const tooMany = problems.get(`${pointer}/where`);
  return (
    <div className="flex flex-col gap-2">
      {where.map((condition, at) => (
        <fieldset key={condition.key} className="rounded-control bg-ground p-2.5">
          <legend className="sr-only">{t('conditionAt', { at: at + 1 })}</legend>
          <div className="flex items-start gap-2">
            <div className="grid min-w-0 grow gap-3 sm:grid-cols-3">
              <TextField
                label={t('property')}
                className="field font-mono"
                spellCheck={false}
                value={condition.property}
                error={problems.get(`${pointer}/where/${at}/property`)}
                onChange={({ target }) => set(where.with(at, { ...condition, property: target.value }))}
              />
              <TestFields
                test={condition}
                error={problems.get(`${pointer}/where/${at}/value`)}
                onChange={(test) => set(where.with(at, { ...condition, ...test }))}
              />
            </div>
            <IconButton
              label={t('removeCondition', { at: at + 1 })}
              onClick={() => set(where.toSpliced(at, 1))}
            >
              <X aria-hidden className="size-4" />
            </IconButton>
          </div>
        </fieldset>
      ))}
      {tooMany !== undefined && <p className="text-xs text-bad">{tooMany}</p>}
      <span>
        <Button look="quiet" className="px-2!" onClick={() => set([...where, more()])}>
          <Plus aria-hidden className="size-4" />
          {t('addCondition')}
        </Button>
      </span>
    </div>
  );
}

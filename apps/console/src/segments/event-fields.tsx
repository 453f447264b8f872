import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Checkbox, Field, TextField } from '../ui/form.tsx';
import { useNumberText } from '../ui/number-field.tsx';
import { useBuilder, useReplace } from './builder-context.ts';
import { ConditionList } from './condition-list.tsx';
import { DurationField } from './duration-field.tsx';
import { COUNT_OPS, type CountOp, type EventLeaf } from './rule.ts';

const ONCE: NonNullable<EventLeaf['count']> = { op: 'gte', text: '1' };

/** How often an event happened, in which window, and with which properties. */
export function EventFields({ node, pointer }: { node: EventLeaf; pointer: string }): ReactNode {
  const t = useTranslations('segments');
  const replace = useReplace(node);
  const { problems } = useBuilder();
  const { event, count = ONCE, within } = node;
  const times = useNumberText(count.text, (text) => replace({ count: { ...count, text } }));
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
        <Field
          label={t('count')}
          error={problems.get(`${pointer}/count/value`) ?? times.fault}
          {...(times.understood === undefined ? {} : { hint: times.understood })}
        >
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
                {...tie}
                ref={times.ref}
                value={times.text}
                onChange={({ target }) => times.type(target.value)}
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
  const replace = useReplace(node);
  const { newKey, problems } = useBuilder();
  return (
    <ConditionList
      conditions={node.where ?? []}
      newKey={newKey}
      problemAt={(path) => problems.get(`${pointer}/where${path}`)}
      onChange={(where) => replace({ where: where.length === 0 ? undefined : where })}
    />
  );
}

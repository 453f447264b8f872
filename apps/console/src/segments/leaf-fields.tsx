import { useId, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Field, Select } from '../ui/form.tsx';
import { useBuilder, useReplace } from './builder-context.ts';
import {
  CONSENT_CHANNELS,
  CONSENT_STATES,
  RULE_FIELDS,
  isOneOf,
  PURPOSES,
  type AttributeLeaf,
  type ConsentLeaf,
} from './rule.ts';
import { TestFields } from './test-fields.tsx';
import type { Fault } from '../ui/problem-at.ts';

/** A field of the contact, or `attributes.<key>`, and what it is compared with. */
export function AttributeFields({ node, pointer }: { node: AttributeLeaf; pointer: string }): ReactNode {
  const t = useTranslations('segments');
  const replace = useReplace(node);
  const { problems } = useBuilder();
  return (
    <div data-fields className="mt-1 grid gap-3 sm:grid-cols-3">
      <Suggested
        label={t('attribute')}
        value={node.path}
        suggestions={[...RULE_FIELDS, 'attributes.']}
        error={problems.get(`${pointer}/attribute`)}
        onChange={(path) => replace({ path })}
      />
      <TestFields test={node} error={problems.get(`${pointer}/value`)} onChange={replace} />
    </div>
  );
}

/** What the contact has agreed to. */
export function ConsentFields({ node, pointer }: { node: ConsentLeaf; pointer: string }): ReactNode {
  const t = useTranslations('segments');
  const replace = useReplace(node);
  const { problems } = useBuilder();
  const { purpose, channel, status } = node;
  return (
    <div data-fields className="mt-1 grid gap-3 sm:grid-cols-3">
      <Suggested
        label={t('purpose')}
        value={purpose}
        suggestions={[...PURPOSES, 'custom.']}
        error={problems.get(`${pointer}/consent/purpose`)}
        onChange={(changed) => replace({ purpose: changed })}
      />
      <Select
        label={t('channel')}
        value={channel ?? ''}
        error={problems.get(`${pointer}/consent/channel`)}
        options={[
          { value: '', label: t('allChannels') },
          ...withCurrent(CONSENT_CHANNELS, channel ?? undefined).map(asOption),
        ]}
        onChange={({ target }) => replace({ channel: target.value === '' ? undefined : target.value })}
      />
      <Select
        label={t('status')}
        value={status}
        error={problems.get(`${pointer}/status`)}
        options={withCurrent(CONSENT_STATES, status).map((value) => ({
          value,
          label: isOneOf(CONSENT_STATES, value) ? t(`statuses.${value}`) : value,
        }))}
        onChange={({ target }) => replace({ status: target.value })}
      />
    </div>
  );
}

const asOption = (value: string): { value: string; label: string } => ({ value, label: value });

/** What is written already stays to be chosen, also where this version does not know it. */
function withCurrent(known: readonly string[], current: string | undefined): string[] {
  return current === undefined || known.includes(current) ? [...known] : [...known, current];
}

interface SuggestedProps {
  label: string;
  value: string;
  suggestions: readonly string[];
  error: Fault | undefined;
  onChange: (value: string) => void;
}

/** A text of which the usual ones are offered. */
function Suggested({ label, value, suggestions, error, onChange }: SuggestedProps): ReactNode {
  const id = useId();
  return (
    <Field label={label} error={error}>
      {(tie) => (
        <>
          <input
            className="field font-mono"
            autoComplete="off"
            spellCheck={false}
            list={`${id}-list`}
            value={value}
            onChange={({ target }) => onChange(target.value)}
            {...tie}
          />
          <datalist id={`${id}-list`}>
            {suggestions.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

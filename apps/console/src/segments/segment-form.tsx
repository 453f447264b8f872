import { ProblemError } from '@customer-platform/client';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { TextArea, TextField } from '../ui/form.tsx';
import type { KeptForm } from '../ui/kept-drafts.tsx';
import { Failure } from '../ui/notices.tsx';
import { checkRule } from './check-rule.ts';
import { Preview } from './preview.tsx';
import { RawJson } from './raw-json.tsx';
import { RuleBuilder } from './rule-builder.tsx';
import { toRule, type NewKey, type Node } from './rule.ts';
import type { Fault } from '../ui/problem-at.ts';

/** A segment as it is written in the form. */
export interface SegmentDraft {
  name: string;
  description: string;
  root: Node;
}

interface SegmentFormProps {
  draft: SegmentDraft;
  onChange: (draft: SegmentDraft) => void;
  newKey: NewKey;
  onSave: () => void;
  busy: boolean;
  error: unknown;
  /** What the button does. */
  action: string;
  kept: KeptForm;
  /** Above the button: what stands in the way. */
  children?: ReactNode;
}

/** Name, description and rule of a segment, with who would be in it. */
export function SegmentForm(props: SegmentFormProps): ReactNode {
  const { draft, onChange, newKey, onSave, busy, error, action, kept, children } = props;
  const t = useTranslations('segments');
  const [tried, setTried] = useState(false);
  const wrong = checkRule(draft.root);
  const problems = new Map<string, Fault>([
    ...(tried ? wrong.map(({ pointer, fault }) => [pointer, t(`faults.${fault}`)] as const) : []),
    ...refusals(error),
  ]);
  const nameless = tried && draft.name.trim() === '' ? t('nameMissing') : undefined;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (wrong.length === 0 && draft.name.trim() !== '') onSave();
  };
  const setRoot = (root: Node): void => onChange({ ...draft, root });
  return (
    <form
      noValidate
      onSubmit={submit}
      data-draft={kept.key}
      className="grid items-start gap-8 xl:grid-cols-[minmax(0,1fr)_22rem]"
    >
      <div className="flex min-w-0 flex-col gap-6">
        {kept.note}
        <div className="grid gap-4 md:grid-cols-2">
          <TextField
            label={t('name')}
            required
            maxLength={120}
            value={draft.name}
            error={nameless ?? problems.get('/name')}
            onChange={({ target }) => onChange({ ...draft, name: target.value })}
          />
          <TextArea
            label={t('description')}
            rows={1}
            maxLength={1_000}
            value={draft.description}
            error={problems.get('/description')}
            onChange={({ target }) => onChange({ ...draft, description: target.value })}
          />
        </div>
        <section className="flex flex-col gap-3">
          <h2 className="text-base font-semibold">{t('rule')}</h2>
          <RuleBuilder root={draft.root} onChange={setRoot} newKey={newKey} problems={problems} />
        </section>
        {error != null && children === undefined && <Failure error={error} />}
        {children}
        {tried && wrong.length > 0 && (
          <p role="alert" className="text-bad">
            {t('unfinished', { count: wrong.length })}
          </p>
        )}
        <div>
          <Button type="submit" look="main" busy={busy}>
            {action}
          </Button>
        </div>
      </div>
      <div className="flex min-w-0 flex-col gap-6 xl:sticky xl:top-8">
        <Preview rule={toRule(draft.root)} unfinished={wrong.length > 0} />
        <RawJson root={draft.root} newKey={newKey} onChange={setRoot} />
      </div>
    </form>
  );
}

/** What the API says is wrong, by pointer. */
function refusals(error: unknown): (readonly [string, Fault])[] {
  if (!(error instanceof ProblemError)) return [];
  return error.errors.flatMap(({ pointer, detail, code }) =>
    pointer === undefined ? [] : [[pointer, { code, detail }] as const],
  );
}

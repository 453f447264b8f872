import { Plus } from 'lucide-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { Checkbox, Select, TextField } from '../ui/form.tsx';
import type { KeptForm } from '../ui/kept-drafts.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { CONTENT_PLACE, draftAs, emptyParts, partsIn, type TemplateDraft } from './template.ts';
import { TemplateParts } from './template-parts.tsx';
import { usePieces } from './use-templates.ts';
import { type Channel, CHANNELS, TEMPLATE_KINDS, type TemplateKind } from './vocabulary.ts';

interface TemplateFormProps {
  draft: TemplateDraft;
  onChange: (draft: TemplateDraft) => void;
  onSave: () => void;
  busy: boolean;
  error: unknown;
  action: string;
  kept: KeptForm;
  /** Of one that is stored. */
  id?: string;
  /** What was refused, or stands in the way. */
  children?: ReactNode;
}

/** The text of each part in each language, as Liquid. */
export function TemplateForm(props: TemplateFormProps): ReactNode {
  const { draft, onChange, onSave, busy, error, action, kept, id, children } = props;
  const t = useTranslations('messages');
  const [locale, setLocale] = useState(draft.default_locale);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSave();
  };
  const names = Object.keys(draft.locales);
  const shown = names.includes(locale) ? locale : (names[0] ?? '');
  const { kind } = draft;
  return (
    <form onSubmit={submit} data-draft={kept.key} className="flex min-w-0 flex-col gap-4">
      {kept.note}
      <What {...props} />
      {kind === 'message' && <LayoutField draft={draft} error={error} onChange={onChange} />}
      <Locales draft={draft} shown={shown} error={error} onShow={setLocale} onChange={onChange} />
      {kind === 'layout' && <p className="text-soft">{t('contentPlace', { place: CONTENT_PLACE })}</p>}
      <TemplateParts id={id} draft={draft} locale={shown} error={error} onChange={onChange} />
      <p className="text-xs text-soft">{t('liquid')}</p>
      {kind === 'message' && (
        <Checkbox
          label={t('strict')}
          checked={draft.strict}
          onChange={({ target }) => onChange({ ...draft, strict: target.checked })}
        />
      )}
      {children}
      <div>
        <Button type="submit" look="main" busy={busy}>
          {action}
        </Button>
        <p className="mt-1 text-xs text-soft">{t('savedAsDraft', { kind })}</p>
      </div>
    </form>
  );
}

/** What it is called, what it is and where it goes. */
function What({ draft, onChange, error, id }: TemplateFormProps): ReactNode {
  const t = useTranslations('messages');
  const { kind } = draft;
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t('name')}
          required
          maxLength={120}
          value={draft.name}
          error={problemAt(error, '/name')}
          hint={kind === 'message' ? undefined : t(id === undefined ? 'pieceName' : 'pieceRenamed')}
          onChange={({ target }) => onChange({ ...draft, name: target.value })}
        />
        <Select
          label={t('kind')}
          disabled={id !== undefined}
          value={kind}
          hint={id === undefined ? t(`kindHints.${kind}`) : undefined}
          options={TEMPLATE_KINDS.map((value) => ({ value, label: t(`kinds.${value}`) }))}
          onChange={({ target }) => onChange(draftAs(draft, { kind: target.value as TemplateKind }))}
        />
        <Select
          label={t('channel')}
          disabled={id !== undefined}
          value={draft.channel}
          options={CHANNELS.map((value) => ({ value, label: t(`channels.${value}`) }))}
          onChange={({ target }) => onChange(draftAs(draft, { channel: target.value as Channel }))}
        />
        <Select
          label={t('defaultLocale')}
          value={draft.default_locale}
          options={Object.keys(draft.locales).map((value) => ({ value, label: value }))}
          error={problemAt(error, '/default_locale')}
          onChange={({ target }) => onChange({ ...draft, default_locale: target.value })}
        />
      </div>
    </>
  );
}

interface DraftFieldProps {
  draft: TemplateDraft;
  error: unknown;
  onChange: (draft: TemplateDraft) => void;
}

/** The frame that goes around the message, by its name. */
function LayoutField({ draft, error, onChange }: DraftFieldProps): ReactNode {
  const t = useTranslations('messages');
  const { data } = usePieces('layout', draft.channel);
  const { layout } = draft;
  if (layout === null && data?.length === 0) return null;
  const found = data ?? [];
  // One that was renamed, or is not published any more: the text of it that the version holds stays.
  const known = layout === null || found.some(({ name }) => name === layout);
  return (
    <Select
      label={t('layout')}
      value={layout ?? ''}
      error={problemAt(error, '/layout')}
      hint={t('layoutHint')}
      options={[
        { value: '', label: t('noLayout') },
        ...(known ? [] : [{ value: layout, label: layout }]),
        ...found.map((each) => ({
          value: each.name,
          label: t('pieceOption', { name: each.name, parts: partsIn(each).join(', ') }),
        })),
      ]}
      onChange={({ target }) => onChange({ ...draft, layout: target.value === '' ? null : target.value })}
    />
  );
}

interface LocalesProps extends DraftFieldProps {
  shown: string;
  onShow: (locale: string) => void;
}

function Locales({ draft, shown, error, onShow, onChange }: LocalesProps): ReactNode {
  const t = useTranslations('messages');
  const [typed, setTyped] = useState('');
  const added = typed.trim();
  const names = Object.keys(draft.locales);
  const add = (): void => {
    const parts = emptyParts(draft.kind, draft.channel);
    onChange({ ...draft, locales: { ...draft.locales, [added]: parts } });
    onShow(added);
    setTyped('');
  };
  const remove = (): void => {
    const { [shown]: _, ...locales } = draft.locales;
    onChange({ ...draft, locales });
  };
  const refused = (locale: string): boolean => problemAt(error, `/locales/${locale}`, true) !== undefined;
  return (
    <div className="flex flex-wrap items-end gap-3">
      <Select
        label={t('locale')}
        value={shown}
        error={problemAt(error, '/locales') ?? problemAt(error, `/locales/${shown}`)}
        options={names.map((value) => ({
          value,
          label: refused(value) ? t('localeRefused', { locale: value }) : value,
        }))}
        onChange={({ target }) => onShow(target.value)}
      />
      {names.length > 1 && shown !== draft.default_locale && (
        <Button onClick={remove}>{t('removeLocale', { locale: shown })}</Button>
      )}
      <TextField
        label={t('addLocale')}
        placeholder="en"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <Button disabled={added === '' || Object.hasOwn(draft.locales, added)} onClick={add}>
        <Plus aria-hidden className="size-4" />
        {t('add')}
      </Button>
    </div>
  );
}

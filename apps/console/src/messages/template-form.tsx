import { Plus } from 'lucide-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { ProblemError } from '@customer-platform/client';
import { Button } from '../ui/button.tsx';
import { Checkbox, Select, TextArea, TextField } from '../ui/form.tsx';
import { Failure } from '../ui/notices.tsx';
import { CHANNELS, PARTS, type Channel } from './vocabulary.ts';

/** A template as it is written in the form. */
export interface TemplateDraft {
  name: string;
  channel: Channel;
  default_locale: string;
  locales: Record<string, Record<string, unknown>>;
  strict: boolean;
  publish: boolean;
}

interface TemplateFormProps {
  draft: TemplateDraft;
  onChange: (draft: TemplateDraft) => void;
  onSave: () => void;
  busy: boolean;
  error: unknown;
  action: string;
  isNew: boolean;
  /** Where something stands in the way. */
  children?: ReactNode;
}

/** The text of each part in each language, as Liquid. */
export function TemplateForm(props: TemplateFormProps): ReactNode {
  const { draft, onChange, onSave, busy, error, action, isNew, children } = props;
  const t = useTranslations('messages');
  const problems = refusals(error);
  const [locale, setLocale] = useState(draft.default_locale);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSave();
  };
  const names = Object.keys(draft.locales);
  const shown = names.includes(locale) ? locale : (names[0] ?? '');
  return (
    <form onSubmit={submit} className="flex min-w-0 flex-col gap-4">
      <div className="grid gap-4 md:grid-cols-3">
        <TextField
          label={t('name')}
          required
          value={draft.name}
          error={problems.get('/name')}
          onChange={({ target }) => onChange({ ...draft, name: target.value })}
        />
        <Select
          label={t('channel')}
          disabled={!isNew}
          value={draft.channel}
          options={CHANNELS.map((value) => ({ value, label: t(`channels.${value}`) }))}
          onChange={({ target }) => {
            const channel = target.value as Channel;
            const locales = Object.fromEntries(names.map((each) => [each, emptyParts(channel)]));
            onChange({ ...draft, channel, locales });
          }}
        />
        <Select
          label={t('defaultLocale')}
          value={draft.default_locale}
          options={names.map((value) => ({ value, label: value }))}
          error={problems.get('/default_locale')}
          onChange={({ target }) => onChange({ ...draft, default_locale: target.value })}
        />
      </div>
      <Locales draft={draft} shown={shown} onShow={setLocale} onChange={onChange} />
      <Parts draft={draft} locale={shown} problems={problems} onChange={onChange} />
      <p className="text-xs text-soft">{t('liquid')}</p>
      <Checkbox
        label={t('strict')}
        checked={draft.strict}
        onChange={({ target }) => onChange({ ...draft, strict: target.checked })}
      />
      <Checkbox
        label={t('publishNow')}
        checked={draft.publish}
        onChange={({ target }) => onChange({ ...draft, publish: target.checked })}
      />
      {error != null && children === undefined && <Failure error={error} />}
      {children}
      <div>
        <Button type="submit" look="main" busy={busy}>
          {action}
        </Button>
      </div>
    </form>
  );
}

/** The parts of a channel, nothing in them; of mail the one that most write. */
export function emptyParts(channel: Channel): Record<string, unknown> {
  const parts = channel === 'email' ? ['subject', 'html'] : PARTS[channel].filter((part) => part !== 'url');
  return Object.fromEntries(parts.map((part) => [part, '']));
}

interface LocalesProps {
  draft: TemplateDraft;
  shown: string;
  onShow: (locale: string) => void;
  onChange: (draft: TemplateDraft) => void;
}

function Locales({ draft, shown, onShow, onChange }: LocalesProps): ReactNode {
  const t = useTranslations('messages');
  const [typed, setTyped] = useState('');
  const added = typed.trim();
  const add = (): void => {
    onChange({ ...draft, locales: { ...draft.locales, [added]: emptyParts(draft.channel) } });
    onShow(added);
    setTyped('');
  };
  return (
    <div className="flex flex-wrap items-end gap-3">
      <Select
        label={t('locale')}
        value={shown}
        options={Object.keys(draft.locales).map((value) => ({ value, label: value }))}
        onChange={({ target }) => onShow(target.value)}
      />
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

interface PartsProps {
  draft: TemplateDraft;
  locale: string;
  problems: ReadonlyMap<string, string>;
  onChange: (draft: TemplateDraft) => void;
}

function Parts({ draft, locale, problems, onChange }: PartsProps): ReactNode {
  const t = useTranslations('messages');
  const parts = draft.locales[locale] ?? {};
  // Which of them there are is the template's: a mail has `html` or `mjml`, and may leave `text` to be derived.
  const names = PARTS[draft.channel].filter(
    (part) => Object.hasOwn(parts, part) || (part !== 'html' && part !== 'mjml'),
  );
  const write = (part: string, text: string): void => {
    const { [part]: _, ...others } = parts;
    const optional = part === 'url' || (part === 'text' && draft.channel === 'email');
    const written = optional && text === '' ? others : { ...parts, [part]: text };
    onChange({ ...draft, locales: { ...draft.locales, [locale]: written } });
  };
  return names.map((part) => {
    const value = parts[part];
    // What is no text, such as a template of the provider, is not written here.
    if (value !== undefined && typeof value !== 'string') return null;
    const field = {
      label: t.has(`parts.${part}` as 'parts.subject') ? t(`parts.${part}` as 'parts.subject') : part,
      error: problems.get(`/locales/${locale}/${part}`),
      value: value ?? '',
      spellCheck: false,
    };
    return part === 'html' || part === 'mjml' || part === 'text' || part === 'body' ? (
      <TextArea
        key={part}
        {...field}
        rows={part === 'text' || part === 'body' ? 5 : 14}
        className="font-mono text-xs"
        onChange={({ target }) => write(part, target.value)}
      />
    ) : (
      <TextField key={part} {...field} onChange={({ target }) => write(part, target.value)} />
    );
  });
}

function refusals(error: unknown): ReadonlyMap<string, string> {
  if (!(error instanceof ProblemError)) return new Map();
  const said = error.errors.flatMap(({ pointer, detail, code }) =>
    pointer === undefined ? [] : [[pointer, detail ?? code] as const],
  );
  return new Map(said);
}

import { Link } from '@tanstack/react-router';
import { useRef, useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Select, TextArea, TextField } from '../ui/form.tsx';
import { problemAt, type Fault } from '../ui/problem-at.ts';
import { BODIES, isOptional, partNames, partsIn, renderTag, type TemplateDraft } from './template.ts';
import { usePieces } from './use-templates.ts';
import { isOneOf } from './vocabulary.ts';

interface TemplatePartsProps {
  /** Of what is stored: nothing puts itself in. */
  id: string | undefined;
  draft: TemplateDraft;
  locale: string;
  error: unknown;
  onChange: (draft: TemplateDraft) => void;
}

/** The text of each part in one language, and what puts partials into it. */
export function TemplateParts({ id, draft, locale, error, onChange }: TemplatePartsProps): ReactNode {
  const { kind, channel } = draft;
  const parts = draft.locales[locale] ?? {};
  const areas = useRef(new Map<string, HTMLTextAreaElement>());
  const [last, setLast] = useState<string>();
  const put = (locales: Record<string, unknown>): void =>
    onChange({ ...draft, locales: { ...draft.locales, [locale]: locales } });
  const write = (part: string, text: string): void => {
    const { [part]: _, ...others } = parts;
    put(isOptional(kind, channel, part) && text === '' ? others : { ...parts, [part]: text });
  };
  const names = partNames(kind, channel, parts).filter((part) => isText(parts[part]));
  const bodies = names.filter((part) => isOneOf(BODIES, part));
  const insert = (part: string, tag: string): void => {
    const area = areas.current.get(part);
    const text = textOf(parts[part]);
    const [start, end] = [area?.selectionStart ?? text.length, area?.selectionEnd ?? text.length];
    write(part, text.slice(0, start) + tag + text.slice(end));
    // Once the text is in place: one writes on behind it.
    requestAnimationFrame(() => {
      area?.focus();
      area?.setSelectionRange(start + tag.length, start + tag.length);
    });
  };
  return (
    <>
      {kind === 'message' && channel === 'email' && <Format parts={parts} onChange={put} />}
      {names.map((part) => (
        <Part
          key={part}
          draft={draft}
          part={part}
          value={textOf(parts[part])}
          error={problemAt(error, `/locales/${locale}/${part}`)}
          onChange={(text) => write(part, text)}
          onFocus={() => setLast(part)}
          area={(element) => void areas.current.set(part, element)}
        />
      ))}
      <InsertPartial
        id={id}
        draft={draft}
        parts={bodies}
        part={bodies.find((part) => part === last) ?? bodies[0] ?? ''}
        onPart={setLast}
        onInsert={insert}
      />
    </>
  );
}

/** What is no text, such as a template of the provider, is not written here. */
function isText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

interface FormatProps {
  parts: Record<string, unknown>;
  onChange: (parts: Record<string, unknown>) => void;
}

/** A mail is written in HTML or in MJML; what was written stays, to be rewritten. */
function Format({ parts, onChange }: FormatProps): ReactNode {
  const t = useTranslations('messages');
  const { html, mjml, ...others } = parts;
  const format = mjml !== undefined ? 'mjml' : html !== undefined ? 'html' : 'text';
  const formats = format === 'text' ? (['text', 'html', 'mjml'] as const) : (['html', 'mjml'] as const);
  return (
    <Select
      label={t('format')}
      hint={t(`formatHints.${format}`)}
      value={format}
      options={formats.map((value) => ({ value, label: t(`formats.${value}`) }))}
      onChange={({ target }) =>
        onChange(target.value === 'text' ? others : { ...others, [target.value]: html ?? mjml ?? '' })
      }
    />
  );
}

interface PartProps {
  draft: TemplateDraft;
  part: string;
  value: string;
  error: Fault | undefined;
  onChange: (text: string) => void;
  onFocus: () => void;
  area: (element: HTMLTextAreaElement) => void;
}

function Part({ draft, part, value, error, onChange, onFocus, area }: PartProps): ReactNode {
  const t = useTranslations('messages');
  const { kind, channel } = draft;
  const named = `parts.${part}` as 'parts.subject';
  const hinted = `partHints.${kind === 'message' ? 'message' : 'piece'}.${part}` as 'partHints.piece.html';
  const field = {
    label: t.has(named) ? t(named) : part,
    hint: channel === 'email' && t.has(hinted) ? t(hinted) : undefined,
    error,
    value,
    spellCheck: false,
    onFocus,
  };
  if (!isOneOf(BODIES, part))
    return <TextField {...field} onChange={({ target }) => onChange(target.value)} />;
  const short = part === 'text' || part === 'body' || kind !== 'message';
  return (
    <TextArea
      {...field}
      ref={(element) => {
        if (element !== null) area(element);
      }}
      rows={short ? 6 : 14}
      className="font-mono text-xs"
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

interface InsertPartialProps {
  id: string | undefined;
  draft: TemplateDraft;
  /** The bodies that there are. */
  parts: readonly string[];
  /** Where it goes: the one that was written in last. */
  part: string;
  onPart: (part: string) => void;
  onInsert: (part: string, tag: string) => void;
}

/** Writes the tag of a published partial where one was writing. */
function InsertPartial({ id, draft, parts, part, onPart, onInsert }: InsertPartialProps): ReactNode {
  const t = useTranslations('messages');
  const [chosen, setChosen] = useState('');
  const { data } = usePieces('partial', draft.channel);
  const partials = (data ?? []).filter((each) => each.id !== id && renderTag(each.name) !== undefined);
  if (data === undefined || parts.length === 0) return null;
  if (partials.length === 0) return draft.kind === 'partial' ? null : <NoPartial channel={draft.channel} />;
  const name = partials.find((each) => each.id === chosen)?.name;
  return (
    <div className="flex flex-col gap-1 rounded-panel border border-line p-3">
      <div className="flex flex-wrap items-end gap-3">
        <div className="min-w-0 grow basis-48">
          <Select
            label={t('insertPartial')}
            value={name === undefined ? '' : chosen}
            options={[
              { value: '', label: t('choose') },
              ...partials.map((each) => ({
                value: each.id,
                label: t('pieceOption', { name: each.name, parts: partsIn(each).join(', ') }),
              })),
            ]}
            onChange={({ target }) => setChosen(target.value)}
          />
        </div>
        {parts.length > 1 && (
          <Select
            label={t('insertInto')}
            value={part}
            options={parts.map((each) => ({ value: each, label: t(`parts.${each}` as 'parts.html') }))}
            onChange={({ target }) => onPart(target.value)}
          />
        )}
        <Button
          disabled={name === undefined}
          onClick={() => name !== undefined && onInsert(part, renderTag(name) ?? '')}
        >
          {t('insert')}
        </Button>
      </div>
      <p className="text-xs text-soft">{t('insertHint')}</p>
    </div>
  );
}

/** Beside, in a tab of its own: what is written here is not saved yet. */
function NoPartial({ channel }: Pick<TemplateDraft, 'channel'>): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const { organization } = usePerson();
  return (
    <p className="text-xs text-soft">
      {t('noPartials')}{' '}
      {may('messaging.templates.create') && (
        <Link
          to="/o/$organization/messages/templates/new"
          params={{ organization: organization.slug }}
          search={{ kind: 'partial', channel }}
          target="_blank"
          className="text-accent underline"
        >
          {t('writePartial')}
        </Link>
      )}
    </p>
  );
}

import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Select, TextArea, TextField } from '../ui/form.tsx';
import { Code } from '../ui/json.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { MailFrame } from './mail-frame.tsx';
import type { Template } from './templates-page.tsx';

interface Asked {
  locale: string;
  contact: string;
  version: string;
  data: string;
}

/** A stored version as it would be sent: in a language, to a contact, with data. */
export function TemplatePreview({ template }: { template: Template }): ReactNode {
  const t = useTranslations('messages');
  const [asked, setAsked] = useState<Asked>({
    locale: template.default_locale,
    contact: '',
    version: String(template.version),
    data: '{}',
  });
  const preview = usePreview(template.id);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (parsed(asked.data) !== undefined) preview.mutate(asked);
  };
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <form onSubmit={submit} className="flex flex-col gap-3">
        <PreviewFields template={template} asked={asked} onChange={setAsked} />
        <div>
          <Button type="submit" busy={preview.isPending}>
            {t('showPreview')}
          </Button>
        </div>
      </form>
      <div aria-live="polite" className="flex min-w-0 flex-col gap-3">
        {preview.error !== null && <Failure error={preview.error} />}
        {preview.data !== undefined && <Rendered result={preview.data} />}
      </div>
    </div>
  );
}

interface PreviewFieldsProps {
  template: Template;
  asked: Asked;
  onChange: (asked: Asked) => void;
}

function PreviewFields({ template, asked, onChange }: PreviewFieldsProps): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-3">
        <Select
          label={t('locale')}
          value={asked.locale}
          options={Object.keys(template.locales).map((value) => ({ value, label: value }))}
          onChange={({ target }) => onChange({ ...asked, locale: target.value })}
        />
        <TextField
          label={t('version')}
          type="number"
          min={1}
          max={template.version}
          value={asked.version}
          onChange={({ target }) => onChange({ ...asked, version: target.value })}
        />
        {may('core.contacts.read') && (
          <TextField
            label={t('contactId')}
            value={asked.contact}
            onChange={({ target }) => onChange({ ...asked, contact: target.value })}
          />
        )}
      </div>
      <TextArea
        label={t('data')}
        rows={3}
        className="font-mono text-xs"
        spellCheck={false}
        value={asked.data}
        error={parsed(asked.data) === undefined ? t('noJson') : undefined}
        onChange={({ target }) => onChange({ ...asked, data: target.value })}
      />
    </>
  );
}

function usePreview(id: string) {
  const api = useApi();
  return useMutation({
    mutationFn: async ({ locale, contact, version, data }: Asked) => {
      const body = {
        locale,
        data: parsed(data) ?? {},
        ...(version === '' ? {} : { version: Number(version) }),
        ...(contact.trim() === '' ? {} : { contact_id: contact.trim() }),
      };
      const params = { path: { id } };
      return (await api.POST('/v1/messaging/templates/{id}/preview', { params, body })).data;
    },
  });
}

interface Result {
  parts: Record<string, string>;
  sms_segments: number | null;
  warnings: Record<string, unknown>[];
}

function Rendered({ result: { parts, sms_segments: segments, warnings } }: { result: Result }): ReactNode {
  const t = useTranslations('messages');
  return (
    <>
      {warnings.map((warning, at) => (
        <Note key={at} tone="warn">
          {String(warning['detail'] ?? warning['code'])}
        </Note>
      ))}
      {segments !== null && <p className="text-soft">{t('smsSegments', { count: segments })}</p>}
      {Object.entries(parts).map(([part, text]) => (
        <div key={part} className="min-w-0">
          <h3 className="mb-1 text-xs font-medium">
            {t.has(`parts.${part}` as 'parts.subject') ? t(`parts.${part}` as 'parts.subject') : part}
          </h3>
          {part === 'html' ? (
            <MailFrame html={text} title={t('mailFrame')} />
          ) : (
            <Code text={text} label={part} />
          )}
        </div>
      ))}
    </>
  );
}

/** An object of JSON; undefined for any other text. */
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

import type { Schemas } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { objectOf, readJson } from '../ui/exact-json.ts';
import { Select, TextArea, TextField } from '../ui/form.tsx';
import { useInexact } from '../ui/json-fault.ts';
import { Failure } from '../ui/notices.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { useSay } from '../ui/toasts.tsx';
import { RenderedParts } from './rendered-parts.tsx';
import { TemplateWarnings } from './template-warnings.tsx';
import type { Template } from './template.ts';

interface Asked {
  locale: string;
  contact: string;
  version: string;
  data: string;
}

/** Of the newest version, whichever it is by then, until somebody chooses one. */
interface Chosen extends Omit<Asked, 'version'> {
  version: string | undefined;
}

/** A stored version as it would be sent: in a language, to a contact, with data. */
export function TemplatePreview({ template }: { template: Template }): ReactNode {
  const t = useTranslations('messages');
  const [chosen, setChosen] = useState<Chosen>({
    locale: template.default_locale,
    contact: '',
    version: undefined,
    data: '{}',
  });
  const asked: Asked = { ...chosen, version: chosen.version ?? String(template.version) };
  const may = useMay();
  const preview = usePreview(template.id);
  const test = useTest(template.id);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (objectOf(readJson(asked.data)) !== undefined) preview.mutate(asked);
  };
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <form data-keeps-nothing onSubmit={submit} className="flex flex-col gap-3">
        <PreviewFields
          template={template}
          asked={asked}
          onChange={(change) => setChosen((before) => ({ ...before, ...change }))}
        />
        <div className="flex flex-wrap gap-2">
          <Button type="submit" busy={preview.isPending}>
            {t('showPreview')}
          </Button>
          {template.kind === 'message' &&
            template.channel === 'email' &&
            may('messaging.templates.update') && (
              <Button
                busy={test.isPending}
                disabled={objectOf(readJson(asked.data)) === undefined}
                onClick={() => test.mutate(asked)}
              >
                {t('testToMe')}
              </Button>
            )}
        </div>
        {test.error !== null && <Failure error={test.error} />}
      </form>
      <div aria-live="polite" className="flex min-w-0 flex-col gap-3">
        {preview.error !== null && <Failure error={preview.error} />}
        {preview.data !== undefined && preview.variables.version === asked.version && (
          <Rendered result={preview.data} />
        )}
      </div>
    </div>
  );
}

interface PreviewFieldsProps {
  template: Template;
  asked: Asked;
  onChange: (change: Partial<Asked>) => void;
}

function PreviewFields({ template, asked, onChange }: PreviewFieldsProps): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const inexact = useInexact();
  const data = readJson(asked.data);
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-3">
        <Select
          label={t('locale')}
          value={asked.locale}
          options={Object.keys(template.locales).map((value) => ({ value, label: value }))}
          onChange={({ target }) => onChange({ locale: target.value })}
        />
        <NumberField
          label={t('version')}
          min={1}
          max={template.version}
          value={asked.version}
          onChange={(version) => onChange({ version })}
        />
        {may('core.contacts.read') && (
          <TextField
            label={t('contactId')}
            value={asked.contact}
            onChange={({ target }) => onChange({ contact: target.value })}
          />
        )}
      </div>
      <TextArea
        label={t('data')}
        rows={3}
        className="font-mono text-xs"
        spellCheck={false}
        value={asked.data}
        error={inexact(data) ?? (objectOf(data) === undefined ? t('noJson') : undefined)}
        onChange={({ target }) => onChange({ data: target.value })}
      />
    </>
  );
}

/** The newest where none is typed. */
function versionOf(typed: string): { version?: number } {
  return Number.isInteger(Number(typed)) && typed !== '' ? { version: Number(typed) } : {};
}

function usePreview(id: string) {
  const api = useApi();
  return useMutation({
    mutationFn: async ({ locale, contact, version, data }: Asked) => {
      const body = {
        locale,
        data: objectOf(readJson(data)) ?? {},
        ...versionOf(version),
        ...(contact.trim() === '' ? {} : { contact_id: contact.trim() }),
      };
      const params = { path: { id } };
      return (await api.POST('/v1/messaging/templates/{id}/preview', { params, body })).data;
    },
  });
}

/** To the mailbox of whoever looks at it, and to no other. */
function useTest(id: string) {
  const t = useTranslations('messages');
  const api = useApi();
  const say = useSay();
  return useMutation({
    mutationFn: async ({ locale, version, data }: Asked) => {
      const body = {
        locale,
        data: objectOf(readJson(data)) ?? {},
        ...versionOf(version),
      };
      await api.POST('/v1/messaging/templates/{id}/test', { params: { path: { id } }, body });
    },
    onSuccess: () => say(t('testSent')),
  });
}

type Result = Schemas['PreviewResultDto'];

function Rendered({ result: { parts, sms_segments: segments, warnings } }: { result: Result }): ReactNode {
  return (
    <>
      <TemplateWarnings warnings={warnings} />
      <RenderedParts parts={parts} segments={segments} />
    </>
  );
}

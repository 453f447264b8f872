import { Plus, X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Checkbox, Select, TextField } from '../ui/form.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { Section } from '../ui/page.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { StoredForm } from '../ui/stored-form.tsx';
import { useSay } from '../ui/toasts.tsx';
import { useEdit, type Reading } from '../ui/use-edit.tsx';
import type { Cap, ChannelSettings } from './channel-draft.ts';
import { useChannelDocument } from './use-channels.ts';
import { CHANNELS, type Channel } from './vocabulary.ts';

interface QuietHours {
  start: string;
  end: string;
  timezone: string;
}

/** Undefined while there are none. */
interface Limits {
  quiet: QuietHours | undefined;
  caps: readonly { channel: Channel; limit: string; window: Cap['window'] }[];
}

interface PartProps {
  draft: Limits;
  onChange: (draft: Limits) => void;
  error: unknown;
}

const MOST_CAPS = 10;

function draftOf({ quiet_hours: quiet, caps = [] }: ChannelSettings): Limits {
  return {
    quiet: quiet == null ? undefined : (quiet as unknown as QuietHours),
    caps: (caps as unknown as Cap[]).map((cap) => ({ ...cap, limit: String(cap.limit) })),
  };
}

function bodyOf({ quiet, caps }: Limits) {
  return {
    quiet_hours: quiet === undefined ? null : { ...quiet },
    caps: caps.map((cap) => ({ ...cap, limit: Number(cap.limit) })),
  };
}

/** When marketing rests, and how much of it one gets at most. */
export function LimitsForm({ opened }: { opened: Reading<ChannelSettings> }): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const say = useSay();
  const { read, put, changed } = useChannelDocument();
  const [draft, setDraft] = useState(() => draftOf(opened.data));
  const edit = useEdit({
    opened,
    body: bodyOf(draft),
    bodyOf: (settings: ChannelSettings) => bodyOf(draftOf(settings)),
    read,
    write: put,
    nameOf: (field) => t(`limitFields.${field}`),
    onTheirs: (now) => setDraft(draftOf(now)),
    onSaved: (now) => {
      setDraft(draftOf(now));
      say(t('limitsSaved'));
      void changed();
    },
  });
  const part: PartProps = { draft, onChange: setDraft, error: edit.error };
  return (
    <Section title={t('limits')} lead={t('limitsLead')}>
      <StoredForm mayChange={may('messaging.channels.update')} edit={edit} action={t('saveLimits')}>
        <Quiet {...part} />
        <Caps {...part} />
      </StoredForm>
    </Section>
  );
}

function Quiet({ draft, onChange, error }: PartProps): ReactNode {
  const t = useTranslations('messages');
  const { organization } = usePerson();
  const { quiet } = draft;
  const first: QuietHours = { start: '22:00', end: '08:00', timezone: organization.timezone };
  const set = (changed: Partial<QuietHours>): void =>
    onChange({ ...draft, quiet: { ...(quiet ?? first), ...changed } });
  const zones = [...new Set([organization.timezone, ...Intl.supportedValuesOf('timeZone')])];
  return (
    <>
      <Checkbox
        label={t('limitFields.quiet_hours')}
        checked={quiet !== undefined}
        onChange={({ target }) => onChange({ ...draft, quiet: target.checked ? first : undefined })}
      />
      {quiet !== undefined && (
        <div className="grid gap-4 sm:grid-cols-3">
          <TextField
            label={t('quietStart')}
            type="time"
            required
            value={quiet.start}
            error={problemAt(error, '/quiet_hours/start')}
            onChange={({ target }) => set({ start: target.value })}
          />
          <TextField
            label={t('quietEnd')}
            type="time"
            required
            value={quiet.end}
            error={problemAt(error, '/quiet_hours/end')}
            onChange={({ target }) => set({ end: target.value })}
          />
          <Select
            label={t('quietZone')}
            hint={t('quietZoneHint')}
            value={quiet.timezone}
            options={(zones.includes(quiet.timezone) ? zones : [quiet.timezone, ...zones]).map((zone) => ({
              value: zone,
              label: zone,
            }))}
            error={problemAt(error, '/quiet_hours/timezone')}
            onChange={({ target }) => set({ timezone: target.value })}
          />
        </div>
      )}
    </>
  );
}

function Caps({ draft, onChange, error }: PartProps): ReactNode {
  const t = useTranslations('messages');
  const { caps } = draft;
  const set = (changed: Limits['caps']): void => onChange({ ...draft, caps: changed });
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 text-xs font-medium">{t('limitFields.caps')}</legend>
      {caps.length === 0 && <p className="text-soft">{t('noCaps')}</p>}
      {caps.map((cap, at) => (
        <fieldset key={at} className="flex items-start gap-2 rounded-control bg-ground p-2.5">
          <legend className="sr-only">{t('capAt', { at: at + 1 })}</legend>
          <div className="grid min-w-0 grow gap-3 sm:grid-cols-3">
            <Select
              label={t('channel')}
              value={cap.channel}
              options={CHANNELS.map((value) => ({ value, label: t(`channels.${value}`) }))}
              error={problemAt(error, `/caps/${at}`)}
              onChange={({ target }) => set(caps.with(at, { ...cap, channel: target.value as Channel }))}
            />
            <NumberField
              label={t('capLimit')}
              min={1}
              max={10_000}
              required
              value={cap.limit}
              error={problemAt(error, `/caps/${at}/limit`)}
              onChange={(limit) => set(caps.with(at, { ...cap, limit }))}
            />
            <Select
              label={t('capWindow')}
              value={cap.window}
              options={(['day', 'week'] as const).map((value) => ({ value, label: t(`windows.${value}`) }))}
              onChange={({ target }) =>
                set(caps.with(at, { ...cap, window: target.value === 'week' ? 'week' : 'day' }))
              }
            />
          </div>
          <IconButton label={t('removeCap', { at: at + 1 })} onClick={() => set(caps.toSpliced(at, 1))}>
            <X aria-hidden className="size-4" />
          </IconButton>
        </fieldset>
      ))}
      <span>
        <Button
          look="quiet"
          className="px-2!"
          disabled={caps.length >= MOST_CAPS}
          onClick={() => set([...caps, { channel: 'email', limit: '3', window: 'week' }])}
        >
          <Plus aria-hidden className="size-4" />
          {t('addCap')}
        </Button>
      </span>
    </fieldset>
  );
}

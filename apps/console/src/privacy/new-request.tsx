import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { ContactPicker } from '../contacts/contact-picker.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Checkbox, InstantField, Select, TextArea, TextField } from '../ui/form.tsx';
import { Failure } from '../ui/notices.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { useSay } from '../ui/toasts.tsx';
import {
  bodyOf,
  isArchived,
  isVerified,
  LOCALES,
  OFFERED_TYPES,
  type RequestDraft,
  type SubjectRequest,
} from './subject-request.ts';
import { useCreateRequest } from './use-requests.ts';
import { ErasurePreview } from './erasure-preview.tsx';

const LONGEST_NOTE = 2_000;

const NOTHING: RequestDraft = {
  type: OFFERED_TYPES[0],
  by: 'contact',
  contact: '',
  identityType: 'email',
  identityValue: '',
  received: '',
  locale: '',
  corrections: '',
  purposes: '',
  note: '',
  method: '',
};

interface NewRequestPanelProps {
  /** The kind of request, where that is known already. */
  type?: RequestDraft['type'] | undefined;
  /** Whom it is about, where that is known already; else empty. */
  contactId: string;
  onClose: () => void;
  onMade: (request: SubjectRequest) => void;
}

/** Takes a request down. Nothing begins before the person is verified: with it, or in a step of its own. */
export function NewRequestPanel({ type, contactId, onClose, onMade }: NewRequestPanelProps): ReactNode {
  const t = useTranslations('privacy');
  const say = useSay();
  const [draft, setDraft] = useState({ ...NOTHING, type: type ?? NOTHING.type, contact: contactId });
  const create = useCreateRequest((request) => {
    say(t('requestMade'));
    onMade(request);
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate(bodyOf(draft));
  };
  const set = (changed: Partial<RequestDraft>): void => setDraft({ ...draft, ...changed });
  const erases = draft.type === 'erasure' && isVerified(draft);
  const isNamed = draft.by === 'contact' ? draft.contact !== '' : draft.identityValue.trim() !== '';
  return (
    <Dialog open onClose={onClose} place="side" title={t('newRequest')} lead={t('newRequestLead')}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <Select
          label={t('type')}
          hint={t(`typeLeads.${draft.type}`)}
          value={draft.type}
          options={OFFERED_TYPES.map((value) => ({ value, label: t(`types.${value}`) }))}
          onChange={({ target }) =>
            set({ type: OFFERED_TYPES.find((each) => each === target.value) ?? draft.type })
          }
        />
        <Select
          label={t('by')}
          value={draft.by}
          options={(['contact', 'identity'] as const).map((value) => ({
            value,
            label: t(`bys.${value}`),
          }))}
          onChange={({ target }) => set({ by: target.value === 'identity' ? 'identity' : 'contact' })}
        />
        {draft.by === 'contact' ? (
          <ContactPicker
            contact={draft.contact}
            error={problemAt(create.error, '/contact_id')}
            onChange={(contact) => set({ contact })}
          />
        ) : (
          <ByIdentity draft={draft} error={create.error} onChange={set} />
        )}
        <InstantField
          label={t('received')}
          hint={t('receivedHint')}
          value={draft.received}
          error={problemAt(create.error, '/received_at')}
          onChange={(received) => set({ received })}
        />
        {isArchived(draft) && <Language draft={draft} onChange={set} />}
        <Wanted draft={draft} error={create.error} onChange={set} />
        <TextArea
          label={t('note')}
          hint={t('noteHint')}
          rows={3}
          maxLength={LONGEST_NOTE}
          value={draft.note}
          error={problemAt(create.error, '/note')}
          onChange={({ target }) => set({ note: target.value })}
        />
        {draft.by === 'contact' && draft.contact !== '' && (
          <Verification draft={draft} error={create.error} onChange={set} />
        )}
        {create.error !== null && <Failure error={create.error} />}
        <DialogActions>
          <Button type="submit" look={erases ? 'danger' : 'main'} busy={create.isPending} disabled={!isNamed}>
            {t(erases ? 'verifyAndErase' : 'createRequest')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

interface VerificationProps {
  draft: RequestDraft;
  error: unknown;
  onChange: (changed: Partial<RequestDraft>) => void;
}

/** Asks how the person was verified; an erasure then begins at once, and says first whom it erases. */
function Verification({ draft, error, onChange }: VerificationProps): ReactNode {
  const t = useTranslations('privacy');
  return (
    <>
      <TextField
        label={t('methodNow')}
        hint={t('methodNowHint')}
        maxLength={60}
        value={draft.method}
        error={problemAt(error, '/verification/method')}
        onChange={({ target }) => onChange({ method: target.value })}
      />
      {draft.type === 'erasure' && isVerified(draft) && (
        <>
          <ErasurePreview contact={draft.contact} />
          <Checkbox label={t('sure')} required />
        </>
      )}
    </>
  );
}

interface LanguageProps {
  draft: RequestDraft;
  onChange: (changed: Partial<RequestDraft>) => void;
}

function Language({ draft, onChange }: LanguageProps): ReactNode {
  const t = useTranslations('privacy');
  return (
    <Select
      label={t('archiveLocale')}
      value={draft.locale}
      options={(['', ...LOCALES] as const).map((value) => ({
        value,
        label: t(`archiveLocales.${value === '' ? 'own' : value}`),
      }))}
      onChange={({ target }) => onChange({ locale: LOCALES.find((each) => each === target.value) ?? '' })}
    />
  );
}

interface WantedProps {
  draft: RequestDraft;
  error: unknown;
  onChange: (changed: Partial<RequestDraft>) => void;
}

/** What should be corrected, or what the person objects to. */
function Wanted({ draft, error, onChange }: WantedProps): ReactNode {
  const t = useTranslations('privacy');
  switch (draft.type) {
    case 'rectification':
      return (
        <TextArea
          label={t('corrections')}
          hint={t('correctionsHint')}
          rows={3}
          required
          value={draft.corrections}
          error={problemAt(error, '/corrections', true)}
          onChange={({ target }) => onChange({ corrections: target.value })}
        />
      );
    case 'opposition':
      return (
        <TextArea
          label={t('purposes')}
          hint={t('purposesHint')}
          rows={3}
          required
          value={draft.purposes}
          error={problemAt(error, '/purposes', true)}
          onChange={({ target }) => onChange({ purposes: target.value })}
        />
      );
    default:
      return null;
  }
}

interface ByIdentityProps {
  draft: RequestDraft;
  error: unknown;
  onChange: (changed: Partial<RequestDraft>) => void;
}

function ByIdentity({ draft, error, onChange }: ByIdentityProps): ReactNode {
  const t = useTranslations('privacy');
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField
        label={t('identityType')}
        hint={t('identityTypeHint')}
        required
        value={draft.identityType}
        error={problemAt(error, '/identity/type')}
        onChange={({ target }) => onChange({ identityType: target.value })}
      />
      <TextField
        label={t('identityValue')}
        required
        maxLength={500}
        value={draft.identityValue}
        error={problemAt(error, '/identity/value') ?? problemAt(error, '/identity')}
        onChange={({ target }) => onChange({ identityValue: target.value })}
      />
    </div>
  );
}

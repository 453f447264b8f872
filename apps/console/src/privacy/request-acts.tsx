import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { Checkbox, InstantField, Select, TextArea, TextField } from '../ui/form.tsx';
import { Failure } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { useSay } from '../ui/toasts.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import { actsOf, GROUNDS, isByHand, type SubjectRequest } from './subject-request.ts';
import { useChangeRequest } from './use-requests.ts';
import { ErasurePreview } from './erasure-preview.tsx';

interface ActProps {
  read: Reading<SubjectRequest>;
  onDone: () => void;
}

const ACTS = { verify: Verify, complete: Complete, extend: Extend, reject: Reject } as const;
type Act = keyof typeof ACTS;

/** The ways on that are open, one form at a time. */
export function RequestActs({ read }: { read: Reading<SubjectRequest> }): ReactNode {
  const t = useTranslations('privacy');
  const [chosen, setChosen] = useState<Act>();
  const possible = actsOf(read.data);
  const open = (Object.keys(ACTS) as Act[]).filter((act) => possible[act]);
  if (open.length === 0) return null;
  const Form = chosen !== undefined && possible[chosen] ? ACTS[chosen] : undefined;
  return (
    <Section title={t('decide')}>
      <div className="flex flex-wrap gap-2">
        {open.map((act) => (
          <Button
            key={act}
            aria-expanded={chosen === act}
            onClick={() => setChosen(chosen === act ? undefined : act)}
          >
            {t(`acts.${act}`)}
          </Button>
        ))}
      </div>
      {Form !== undefined && <Form key={chosen} read={read} onDone={() => setChosen(undefined)} />}
    </Section>
  );
}

function Verify({ read, onDone }: ActProps): ReactNode {
  const t = useTranslations('privacy');
  const say = useSay();
  const [draft, setDraft] = useState({ method: '', reference: '', verified: '', sure: false });
  const isErasure = read.data.type === 'erasure';
  const change = useChangeRequest(read, () => {
    say(t('verifiedSaid'));
    onDone();
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const { method, reference, verified } = draft;
    const verification = {
      method: method.trim(),
      ...(reference.trim() !== '' && { reference: reference.trim() }),
      ...(verified !== '' && { verified_at: verified }),
    };
    change.mutate({ verification });
  };
  const set = (changed: Partial<typeof draft>): void => setDraft({ ...draft, ...changed });
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <TextField
        label={t('method')}
        hint={t('methodHint')}
        required
        maxLength={60}
        value={draft.method}
        error={problemAt(change.error, '/verification/method')}
        onChange={({ target }) => set({ method: target.value })}
      />
      <TextField
        label={t('proof')}
        hint={t('proofHint')}
        maxLength={200}
        value={draft.reference}
        error={problemAt(change.error, '/verification/reference')}
        onChange={({ target }) => set({ reference: target.value })}
      />
      <InstantField
        label={t('verifiedAt')}
        hint={t('verifiedAtHint')}
        value={draft.verified}
        error={problemAt(change.error, '/verification/verified_at')}
        onChange={(verified) => set({ verified })}
      />
      {isErasure && <ErasurePreview contact={read.data.contact_id} />}
      {isErasure && (
        <Checkbox
          label={t('sure')}
          required
          checked={draft.sure}
          onChange={({ target }) => set({ sure: target.checked })}
        />
      )}
      {change.error !== null && <Failure error={change.error} />}
      <div>
        <Button type="submit" look={isErasure ? 'danger' : 'main'} busy={change.isPending}>
          {t(isErasure ? 'verifyAndErase' : isByHand(read.data) ? 'verifyOnly' : 'verifyAndGather')}
        </Button>
      </div>
    </form>
  );
}

function Complete({ read, onDone }: ActProps): ReactNode {
  const t = useTranslations('privacy');
  const say = useSay();
  const [outcome, setOutcome] = useState('');
  const change = useChangeRequest(read, () => {
    say(t('completedSaid'));
    onDone();
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change.mutate({ completion: { outcome: outcome.trim() } });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <TextArea
        label={t('outcome')}
        hint={t(read.data.type === 'opposition' ? 'outcomeWithdraws' : 'outcomeHint')}
        rows={2}
        required
        maxLength={2_000}
        value={outcome}
        error={problemAt(change.error, '/completion/outcome')}
        onChange={({ target }) => setOutcome(target.value)}
      />
      {change.error !== null && <Failure error={change.error} />}
      <div>
        <Button type="submit" look="main" busy={change.isPending}>
          {t('completeRequest')}
        </Button>
      </div>
    </form>
  );
}

function Extend({ read, onDone }: ActProps): ReactNode {
  const t = useTranslations('privacy');
  const say = useSay();
  const [reason, setReason] = useState('');
  const change = useChangeRequest(read, () => {
    say(t('extendedSaid'));
    onDone();
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change.mutate({ extension_reason: reason.trim() });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <TextField
        label={t('reason')}
        hint={t('reasonHint')}
        required
        maxLength={500}
        value={reason}
        error={problemAt(change.error, '/extension_reason')}
        onChange={({ target }) => setReason(target.value)}
      />
      {change.error !== null && <Failure error={change.error} />}
      <div>
        <Button type="submit" busy={change.isPending}>
          {t('extendOnce')}
        </Button>
      </div>
    </form>
  );
}

function Reject({ read, onDone }: ActProps): ReactNode {
  const t = useTranslations('privacy');
  const say = useSay();
  const [ground, setGround] = useState<(typeof GROUNDS)[number]>('not_verified');
  const [detail, setDetail] = useState('');
  const change = useChangeRequest(read, () => {
    say(t('rejectedSaid'));
    onDone();
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change.mutate({ rejection: { ground, ...(detail.trim() !== '' && { detail: detail.trim() }) } });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <Select
        label={t('ground')}
        value={ground}
        error={problemAt(change.error, '/rejection/ground')}
        options={GROUNDS.map((value) => ({ value, label: t(`grounds.${value}`) }))}
        onChange={({ target }) => setGround(GROUNDS.find((each) => each === target.value) ?? ground)}
      />
      <TextArea
        label={t('groundDetail')}
        rows={2}
        maxLength={2_000}
        value={detail}
        error={problemAt(change.error, '/rejection/detail')}
        onChange={({ target }) => setDetail(target.value)}
      />
      {change.error !== null && <Failure error={change.error} />}
      <div>
        <Button type="submit" look="danger" busy={change.isPending}>
          {t('rejectRequest')}
        </Button>
      </div>
    </form>
  );
}

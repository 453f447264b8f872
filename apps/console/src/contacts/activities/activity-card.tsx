import { Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useMay } from '../../session/use-session.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Select } from '../../ui/form.tsx';
import { Failure } from '../../ui/notices.tsx';
import { Time } from '../../ui/time.tsx';
import { useSay } from '../../ui/toasts.tsx';
import { useChange } from '../use-change.ts';
import type { Activity, ActivityType } from './activity.ts';

const TONES: Record<Activity['status'], Tone> = { open: 'accent', completed: 'good', cancelled: 'neutral' };

interface ActivityCardProps {
  activity: Activity;
  /** Unknown where the type may not be read. */
  type: ActivityType | undefined;
  contactId: string;
}

/** One activity, with the steps that it can take. */
export function ActivityCard({ activity, type, contactId }: ActivityCardProps): ReactNode {
  const t = useTranslations('contacts');
  const { subject, description, due_at, status, outcome, completed_at } = activity;
  const outcomeName = type?.outcomes.find(({ key }) => key === outcome)?.label ?? outcome;
  return (
    <article className="flex flex-col gap-2 rounded-panel border border-line p-4">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 dir="auto" className="min-w-0 grow font-medium">
          {subject}
        </h2>
        <Badge tone={TONES[status]}>{t(`activities.statuses.${status}`)}</Badge>
      </header>
      {description !== null && (
        <p dir="auto" className="whitespace-pre-wrap">
          {description}
        </p>
      )}
      <footer className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-soft">
        {type !== undefined && <span>{type.name}</span>}
        {due_at !== null && (
          <span>
            {t('activities.due')}: <Time at={due_at} />
          </span>
        )}
        {completed_at !== null && (
          <span>
            {t('activities.completedAt')}: <Time at={completed_at} />
          </span>
        )}
        {outcomeName !== null && <span>{outcomeName}</span>}
      </footer>
      <Steps activity={activity} type={type} contactId={contactId} />
    </article>
  );
}

function Steps({ activity, type, contactId }: ActivityCardProps): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const step = useStep(activity.id, contactId);
  const remove = useRemove(activity.id, contactId);
  const error = step.error ?? remove.error;
  const mayStep = may('crm.activities.update');
  return (
    <>
      <div className="flex flex-wrap items-end gap-2">
        {mayStep && activity.status === 'open' && (
          <>
            <Complete
              type={type}
              busy={step.isPending}
              onComplete={(outcome) => step.mutate({ status: 'completed', ...outcome })}
            />
            <Button busy={step.isPending} onClick={() => step.mutate({ status: 'cancelled' })}>
              {t('activities.cancel')}
            </Button>
          </>
        )}
        {mayStep && activity.status !== 'open' && (
          <Button busy={step.isPending} onClick={() => step.mutate({ status: 'open' })}>
            {t('activities.reopen')}
          </Button>
        )}
        <span className="grow" />
        {may('crm.activities.delete') && (
          <IconButton label={t('activities.delete')} busy={remove.isPending} onClick={() => remove.mutate()}>
            <Trash2 aria-hidden className="size-4" />
          </IconButton>
        )}
      </div>
      {error !== null && <Failure error={error} />}
    </>
  );
}

interface CompleteProps {
  type: ActivityType | undefined;
  busy: boolean;
  onComplete: (with_: { outcome?: string }) => void;
}

/** With an outcome where its type has some. */
function Complete({ type, busy, onComplete }: CompleteProps): ReactNode {
  const t = useTranslations('contacts');
  const [chosen, setChosen] = useState('');
  const outcomes = (type?.outcomes ?? []).filter(({ archived }) => archived !== true);
  const offered = [
    ...(type?.outcome_required === true ? [] : [{ value: '', label: t('activities.noOutcome') }]),
    ...outcomes.map(({ key: value, label }) => ({ value, label: label ?? value })),
  ];
  const outcome = offered.some(({ value }) => value === chosen) ? chosen : (offered[0]?.value ?? '');
  return (
    <>
      {outcomes.length > 0 && (
        <Select
          label={t('activities.outcome')}
          value={outcome}
          onChange={(event) => setChosen(event.target.value)}
          options={offered}
        />
      )}
      <Button busy={busy} onClick={() => onComplete(outcome === '' ? {} : { outcome })}>
        {t('activities.complete')}
      </Button>
    </>
  );
}

function useStep(id: string, contactId: string) {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  return useChange(
    contactId,
    async (body: { status: Activity['status']; outcome?: string }) => {
      await api.PATCH('/v1/crm/activities/{id}', { params: { path: { id } }, body });
    },
    (_, { status }) => say(t(`activities.became.${status}`)),
  );
}

function useRemove(id: string, contactId: string) {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  const params = { path: { id } };
  const restore = useChange(contactId, async () => {
    await api.POST('/v1/crm/activities/{id}/restore', { params });
  });
  return useChange(
    contactId,
    async () => {
      await api.DELETE('/v1/crm/activities/{id}', { params });
    },
    () => say(t('activities.deleted'), () => restore.mutateAsync()),
  );
}

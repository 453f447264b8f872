import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Json } from '../ui/json.tsx';
import { Enabled, ResourcePanel } from '../ui/resource-panel.tsx';
import { ResourceSteps } from '../ui/resource-steps.tsx';
import { Standing } from '../ui/standing.tsx';
import { Time } from '../ui/time.tsx';
import { useEditDraft } from '../ui/use-draft.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import { bodyOf, delayOf, draftOf, patchOf, type RoutingRule } from './routing-draft.ts';
import { RoutingForm } from './routing-form.tsx';
import { RoutingState } from './routing-state.tsx';
import { useRoutingChanged, useRoutingRule, useTurnRouting } from './use-routing.ts';
import { TemplateLink } from './words.tsx';

/** One rule of event routing: what it sends, and the ways to change it. */
export function RoutingPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('messages');
  const read = useRoutingRule(id);
  return (
    <ResourcePanel
      read={read}
      title={read.data?.data.name ?? t('routingRule')}
      keptAs={`event-routing/${id}`}
      onClose={onClose}
      shown={(opened, onEdit) => (
        <>
          <Turn read={opened} />
          <Adopt read={opened} />
          <Steps rule={opened.data} onEdit={onEdit} onGone={onClose} />
          <Facts rule={opened.data} />
        </>
      )}
      form={(opened, onDone) => <EditRouting opened={opened} onDone={onDone} />}
    />
  );
}

/** Takes effect at once. */
function Turn({ read }: { read: Reading<RoutingRule> }): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const { data: rule } = read;
  const turn = useTurnRouting(rule.id);
  if (rule.deleted_at !== null || !may('messaging.routing.update'))
    return (
      <div>
        <RoutingState rule={rule} />
      </div>
    );
  return (
    <Enabled read={read} label={t(rule.enabled ? 'sendsNow' : 'sendsNothing')} turn={turn}>
      <p className="text-xs text-soft">{t('turnLead')}</p>
    </Enabled>
  );
}

/** The way to answer for it oneself, where its maker does not. */
function Adopt({ read: { data: rule, etag } }: { read: Reading<RoutingRule> }): ReactNode {
  const may = useMay();
  const api = useApi();
  const changed = useRoutingChanged();
  const params = { path: { id: rule.id } };
  const adopt = () =>
    api.PATCH('/v1/messaging/event-routing/{id}', { params, body: { adopt: true }, ifMatch: etag });
  return (
    <Standing
      standing={rule.deleted_at === null ? rule.standing : null}
      adopt={may('messaging.routing.update') ? adopt : undefined}
      changed={changed}
    />
  );
}

interface StepsProps {
  rule: RoutingRule;
  onEdit: () => void;
  onGone: () => void;
}

function Steps({ rule, onEdit, onGone }: StepsProps): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const api = useApi();
  const changed = useRoutingChanged();
  const params = { path: { id: rule.id } };
  const mayDelete = may('messaging.routing.delete');
  const mayPurge = may('messaging.routing.purge');
  return (
    <ResourceSteps
      name={rule.name}
      deleted={rule.deleted_at !== null}
      onEdit={may('messaging.routing.update') ? onEdit : undefined}
      remove={mayDelete ? () => api.DELETE('/v1/messaging/event-routing/{id}', { params }) : undefined}
      restore={mayDelete ? () => api.POST('/v1/messaging/event-routing/{id}/restore', { params }) : undefined}
      purge={mayPurge ? () => api.DELETE('/v1/messaging/event-routing/{id}/purge', { params }) : undefined}
      purgeLead={t('purgeRoutingLead')}
      changed={changed}
      onGone={onGone}
    />
  );
}

function Facts({ rule }: { rule: RoutingRule }): ReactNode {
  const t = useTranslations('messages');
  const { delay, unit } = delayOf(rule.delay_seconds);
  const { to, where } = draftOf(rule);
  return (
    <>
      <Details>
        <Detail name={t('event')}>
          <code className="font-mono text-xs wrap-anywhere">
            {[rule.event_type, rule.event_name].filter(Boolean).join(' · ')}
          </code>
        </Detail>
        <Detail name={t('channel')}>{t(`channels.${rule.channel}`)}</Detail>
        <Detail name={t('template')}>
          <TemplateLink id={rule.template_id} />
        </Detail>
        <Detail name={t('recipient')}>
          {t(`recipients.${to}`)} <code className="font-mono text-xs wrap-anywhere">{where}</code>
        </Detail>
        <Detail name={t('category')}>{t(`categories.${rule.category}`)}</Detail>
        {rule.topic !== null && <Detail name={t('topic')}>{rule.topic}</Detail>}
        <Detail name={t('delay')}>
          {rule.delay_seconds === 0 ? t('atOnce') : t(`delays.${unit}`, { count: Number(delay) })}
        </Detail>
        <Detail name={t('changedAt')}>
          <Time at={rule.updated_at} />
        </Detail>
        <Detail name={t('id')}>
          <Id value={rule.id} />
        </Detail>
      </Details>
      {rule.condition !== null && <Json value={rule.condition} label={t('condition')} />}
    </>
  );
}

function EditRouting({ opened, onDone }: { opened: Reading<RoutingRule>; onDone: () => void }): ReactNode {
  const t = useTranslations('messages');
  const api = useApi();
  const changed = useRoutingChanged();
  const params = { path: { id: opened.data.id } };
  const form = useEditDraft({
    keptAs: `event-routing/${opened.data.id}`,
    opened,
    draftOf,
    bodyOf,
    read: () => api.GET('/v1/messaging/event-routing/{id}', { params }),
    write: (body, { etag }) =>
      api.PATCH('/v1/messaging/event-routing/{id}', { params, body: patchOf(body), ifMatch: etag }),
    nameOf: (field) => t(`routingFields.${field}`),
    said: ({ name }) => t('routingSaved', { name }),
    changed,
    onDone,
  });
  return <RoutingForm {...form} action={t('saveRouting')} />;
}

import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { ConditionList } from '../segments/condition-list.tsx';
import { FormFrame, FormPart, partOf, type DraftFormProps, type DraftPartProps } from '../ui/draft-form.tsx';
import { Checkbox, Select, TextField } from '../ui/form.tsx';
import { Json } from '../ui/json.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { TemplateField, TopicField } from './content-fields.tsx';
import { newKey, RECIPIENTS, ROUTING_OPS, UNITS, type RoutingDraft, type Unit } from './routing-draft.ts';
import { CATEGORIES, CHANNELS, ROUTABLE_EVENTS, type Channel, type EventType } from './vocabulary.ts';

/** Which event sends which template to whom. */
export function RoutingForm(props: DraftFormProps<RoutingDraft>): ReactNode {
  const t = useTranslations('messages');
  const part = partOf(props);
  return (
    <FormFrame {...props}>
      <When {...part} />
      <What {...part} />
      <Whom {...part} />
      <Checkbox
        label={t('enabledNow')}
        checked={part.draft.enabled}
        onChange={({ target }) => part.set({ enabled: target.checked })}
      />
      {props.children}
    </FormFrame>
  );
}

function When({ draft, set, error }: DraftPartProps<RoutingDraft>): ReactNode {
  const t = useTranslations('messages');
  return (
    <FormPart title={t('whenHappens')}>
      <TextField
        label={t('name')}
        required
        maxLength={120}
        value={draft.name}
        error={problemAt(error, '/name')}
        onChange={({ target }) => set({ name: target.value })}
      />
      <Select
        label={t('eventType')}
        value={draft.eventType}
        options={ROUTABLE_EVENTS.map((value) => ({
          value,
          label: `${t(`eventTypes.${keyOf(value)}`)} · ${value}`,
        }))}
        error={problemAt(error, '/event_type')}
        onChange={({ target }) => set({ eventType: target.value as EventType })}
      />
      {draft.eventType === 'core.event.recorded' && (
        <TextField
          label={t('eventName')}
          hint={t('eventNameHint')}
          className="field font-mono"
          spellCheck={false}
          required
          maxLength={200}
          value={draft.eventName}
          error={problemAt(error, '/event_name')}
          onChange={({ target }) => set({ eventName: target.value })}
        />
      )}
      <Conditions draft={draft} set={set} error={error} />
    </FormPart>
  );
}

/** Dots lead into the texts: `core.event.recorded` is called `core_event_recorded` there. */
function keyOf<Type extends EventType>(type: Type) {
  return type.replaceAll('.', '_') as 'core_event_recorded';
}

function Conditions({ draft, set, error }: DraftPartProps<RoutingDraft>): ReactNode {
  const t = useTranslations('messages');
  const { joined, conditions, nested } = draft;
  if (nested != null)
    return (
      <div className="flex flex-col gap-2">
        <p className="text-xs text-soft">{t('nestedCondition')}</p>
        <Json value={nested} label={t('condition')} />
      </div>
    );
  return (
    <>
      {conditions.length > 1 && (
        <Select
          label={t('condition')}
          value={joined}
          options={(['all', 'any'] as const).map((value) => ({ value, label: t(`joined.${value}`) }))}
          onChange={({ target }) => set({ joined: target.value === 'any' ? 'any' : 'all' })}
        />
      )}
      <ConditionList
        conditions={conditions}
        newKey={newKey}
        ops={ROUTING_OPS}
        label={t('path')}
        placeholder="event.properties.amount"
        addLabel={t('addCondition')}
        problemAt={(at) =>
          problemAt(error, `/condition/${joined}${at.replace(/property$/, 'path')}`) ??
          (at === '' ? problemAt(error, '/condition') : undefined)
        }
        onChange={(changed) => set({ conditions: changed })}
      />
    </>
  );
}

function What({ draft, set, error }: DraftPartProps<RoutingDraft>): ReactNode {
  const t = useTranslations('messages');
  return (
    <FormPart title={t('whatSends')}>
      <div className="grid gap-4 sm:grid-cols-2">
        <Select
          label={t('channel')}
          value={draft.channel}
          options={CHANNELS.map((value) => ({ value, label: t(`channels.${value}`) }))}
          error={problemAt(error, '/channel')}
          onChange={({ target }) => set({ channel: target.value as Channel, templateId: '', topic: '' })}
        />
        <TemplateField
          channel={draft.channel}
          value={draft.templateId}
          error={problemAt(error, '/template_id')}
          onChange={(templateId) => set({ templateId })}
        />
        <Select
          label={t('category')}
          value={draft.category}
          options={CATEGORIES.map((value) => ({ value, label: t(`categories.${value}`) }))}
          onChange={({ target }) => set({ category: target.value as RoutingDraft['category'] })}
        />
        <TopicField
          channel={draft.channel}
          value={draft.topic}
          error={problemAt(error, '/topic')}
          onChange={(topic) => set({ topic })}
        />
        <NumberField
          label={t('delay')}
          min={0}
          fraction
          required
          value={draft.delay}
          error={problemAt(error, '/delay_seconds')}
          onChange={(delay) => set({ delay })}
        />
        <Select
          label={t('unit')}
          value={draft.unit}
          options={(Object.keys(UNITS) as Unit[]).map((value) => ({ value, label: t(`units.${value}`) }))}
          onChange={({ target }) => set({ unit: target.value as Unit })}
        />
      </div>
    </FormPart>
  );
}

function Whom({ draft, set, error }: DraftPartProps<RoutingDraft>): ReactNode {
  const t = useTranslations('messages');
  const inside = draft.to === 'event' ? 'path' : 'value';
  return (
    <FormPart title={t('toWhom')}>
      <Select
        label={t('recipient')}
        value={draft.to}
        options={RECIPIENTS.map((value) => ({ value, label: t(`recipients.${value}`) }))}
        error={problemAt(error, '/recipient')}
        onChange={({ target }) => set({ to: target.value as RoutingDraft['to'], where: '' })}
      />
      {draft.to !== 'contact' && (
        <TextField
          label={t(draft.to === 'event' ? 'recipientPath' : 'address')}
          placeholder={draft.to === 'event' ? 'properties.email' : undefined}
          required
          value={draft.where}
          error={problemAt(error, `/recipient/${inside}`)}
          onChange={({ target }) => set({ where: target.value })}
        />
      )}
    </FormPart>
  );
}

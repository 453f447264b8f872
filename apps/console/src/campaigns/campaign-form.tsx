import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { TemplateField, TopicField } from '../messages/content-fields.tsx';
import { CATEGORIES, CHANNELS, type Channel } from '../messages/vocabulary.ts';
import { useMay, usePerson } from '../session/use-session.tsx';
import { FormFrame, FormPart, partOf, type DraftFormProps, type DraftPartProps } from '../ui/draft-form.tsx';
import { readJson } from '../ui/exact-json.ts';
import { Checkbox, Select, TextArea, TextField } from '../ui/form.tsx';
import { useInexact } from '../ui/json-fault.ts';
import { NameSelect } from '../ui/name-select.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { AudienceCount } from './audience-count.tsx';
import { AUDIENCE_TYPES, dataOf, type AudienceType, type CampaignDraft } from './campaign.ts';
import { useAudiences } from './use-audiences.ts';

/** What goes to whom. */
export function CampaignForm(props: DraftFormProps<CampaignDraft>): ReactNode {
  const t = useTranslations('campaigns');
  const { draft, set, error } = partOf(props);
  const readable = dataOf(draft) !== undefined;
  return (
    <FormFrame {...props} onSend={() => readable && props.onSend()}>
      <TextField
        label={t('name')}
        required
        maxLength={120}
        value={draft.name}
        error={problemAt(error, '/name')}
        onChange={({ target }) => set({ name: target.value })}
      />
      <What draft={draft} set={set} error={error} />
      <Whom draft={draft} set={set} error={error} />
      <Checkbox
        label={t('repeatable')}
        checked={draft.repeatable}
        onChange={({ target }) => set({ repeatable: target.checked })}
      />
      {props.children}
    </FormFrame>
  );
}

function What({ draft, set, error }: DraftPartProps<CampaignDraft>): ReactNode {
  const t = useTranslations('campaigns');
  const words = useTranslations('messages');
  const inexact = useInexact();
  return (
    <FormPart title={t('what')}>
      <div className="grid gap-4 sm:grid-cols-2">
        <Select
          label={t('channel')}
          value={draft.channel}
          options={CHANNELS.map((value) => ({ value, label: words(`channels.${value}`) }))}
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
          label={words('category')}
          value={draft.category}
          options={CATEGORIES.map((value) => ({ value, label: words(`categories.${value}`) }))}
          onChange={({ target }) => set({ category: target.value as CampaignDraft['category'] })}
        />
        <TopicField
          channel={draft.channel}
          value={draft.topic}
          error={problemAt(error, '/topic')}
          onChange={(topic) => set({ topic })}
        />
      </div>
      <TextArea
        label={t('data')}
        hint={t('dataHint')}
        className="font-mono text-xs"
        rows={3}
        spellCheck={false}
        value={draft.data}
        error={
          inexact(readJson(draft.data)) ??
          (dataOf(draft) === undefined ? t('noJson') : problemAt(error, '/data', true))
        }
        onChange={({ target }) => set({ data: target.value })}
      />
    </FormPart>
  );
}

function Whom({ draft, set, error }: DraftPartProps<CampaignDraft>): ReactNode {
  const t = useTranslations('campaigns');
  return (
    <FormPart title={t('whom')}>
      <Select
        label={t('audience')}
        value={draft.audienceType}
        options={AUDIENCE_TYPES.map((value) => ({ value, label: t(`audienceTypes.${value}`) }))}
        onChange={({ target }) => set({ audienceType: target.value as AudienceType, audienceId: '' })}
      />
      <AudienceField draft={draft} set={set} error={error} />
      <AudienceCount audience={{ type: draft.audienceType, id: draft.audienceId }} />
    </FormPart>
  );
}

/** By its name; without the right to see it the API would refuse to aim at it. */
function AudienceField({ draft, set, error }: DraftPartProps<CampaignDraft>): ReactNode {
  const t = useTranslations('campaigns');
  const may = useMay();
  const { organization } = usePerson();
  const [prefix, setPrefix] = useState('');
  const { audienceType: type, audienceId } = draft;
  const read = useAudiences(type, prefix);
  const none = (
    <>
      {t(`noAudience.${type}`)}{' '}
      {type === 'segment' && may('core.segments.create') && (
        <Link
          to="/o/$organization/segments/new"
          params={{ organization: organization.slug }}
          // What is written in the form stays.
          target="_blank"
          className="text-accent underline"
        >
          {t('makeSegment')}
        </Link>
      )}
      {type === 'list' && may('crm.lists.create') && (
        <Link
          to="/o/$organization/contacts/lists"
          params={{ organization: organization.slug }}
          search={{ open: 'new' }}
          target="_blank"
          className="text-accent underline"
        >
          {t('makeList')}
        </Link>
      )}
    </>
  );
  return (
    <NameSelect
      label={t(`audienceTypes.${type}`)}
      idLabel={t(`audienceIds.${type}`)}
      {...{ read, prefix, none }}
      onPrefix={setPrefix}
      value={audienceId}
      error={problemAt(error, '/audience', true)}
      onChange={(id) => set({ audienceId: id })}
    />
  );
}

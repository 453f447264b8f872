import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { TemplateLink } from '../messages/words.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Json } from '../ui/json.tsx';
import { Section } from '../ui/page.tsx';
import { ResourcePanel } from '../ui/resource-panel.tsx';
import { Standing } from '../ui/standing.tsx';
import { Time } from '../ui/time.tsx';
import { CampaignActs } from './campaign-acts.tsx';
import { CampaignProgress } from './campaign-progress.tsx';
import { CampaignStateBadge } from './campaign-state.tsx';
import { AUDIENCE_PERMISSIONS, type Campaign } from './campaign.ts';
import { EditCampaign } from './edit-campaign.tsx';
import { useAudience } from './use-audiences.ts';
import { useCampaign, useCampaignsChanged } from './use-campaigns.ts';

/** One campaign: how far its run has come, and the ways to go on. */
export function CampaignPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('campaigns');
  const read = useCampaign(id);
  return (
    <ResourcePanel
      read={read}
      title={read.data?.data.name ?? t('campaign')}
      keptAs={`campaigns/${id}`}
      onClose={onClose}
      shown={({ data: campaign, etag }, onEdit) => (
        <>
          <CampaignActs campaign={campaign} onEdit={onEdit} onGone={onClose} />
          <Adopt campaign={campaign} etag={etag} />
          <CampaignProgress campaign={campaign} />
          <Facts campaign={campaign} />
        </>
      )}
      form={(opened, onDone) => <EditCampaign opened={opened} onDone={onDone} />}
    />
  );
}

/** The way to answer for it oneself, where its maker does not. */
function Adopt({ campaign, etag }: { campaign: Campaign; etag: string | undefined }): ReactNode {
  const may = useMay();
  const api = useApi();
  const changed = useCampaignsChanged();
  const params = { path: { id: campaign.id } };
  const adopt = () =>
    api.PATCH('/v1/messaging/campaigns/{id}', { params, body: { adopt: true }, ifMatch: etag });
  return (
    <Standing
      standing={campaign.deleted_at === null ? campaign.standing : null}
      adopt={may('messaging.campaigns.update') ? adopt : undefined}
      changed={changed}
    />
  );
}

function Facts({ campaign }: { campaign: Campaign }): ReactNode {
  const t = useTranslations('campaigns');
  const words = useTranslations('messages');
  return (
    <>
      <Details>
        <Detail name={t('state')}>
          <CampaignStateBadge campaign={campaign} />
        </Detail>
        <Detail name={t('audience')}>
          <AudienceLink audience={campaign.audience} />
        </Detail>
        <Detail name={t('channel')}>{words(`channels.${campaign.channel}`)}</Detail>
        <Detail name={words('template')}>
          <TemplateLink id={campaign.template_id} />
        </Detail>
        <Detail name={words('category')}>{words(`categories.${campaign.category}`)}</Detail>
        {campaign.topic !== null && <Detail name={words('topic')}>{campaign.topic}</Detail>}
        <Detail name={t('repeats')}>{t(campaign.repeatable ? 'repeatableYes' : 'repeatableNo')}</Detail>
        <Detail name={t('createdAt')}>
          <Time at={campaign.created_at} />
        </Detail>
        <Detail name={t('id')}>
          <Id value={campaign.id} />
        </Detail>
      </Details>
      {Object.keys(campaign.data).length > 0 && (
        <Section title={t('dataTitle')}>
          <Json value={campaign.data} label={t('data')} />
        </Section>
      )}
    </>
  );
}

/** By its name, and with how many are in it, for who may see it. */
function AudienceLink({ audience }: Pick<Campaign, 'audience'>): ReactNode {
  const t = useTranslations('campaigns');
  const may = useMay();
  const { organization } = usePerson();
  const { data } = useAudience(audience);
  const { type, id } = audience;
  const count = data !== undefined && !data.building && t('inside', { count: data.count });
  const name = data === undefined ? <code className="font-mono text-xs">{id}</code> : <bdi>{data.name}</bdi>;
  const params = { organization: organization.slug, segment: id };
  return (
    <>
      {t(`audienceTypes.${type}`)}{' '}
      {type === 'segment' && may(AUDIENCE_PERMISSIONS.segment) ? (
        <Link
          to="/o/$organization/segments/$segment"
          params={params}
          search={{}}
          className="text-accent underline"
        >
          {name}
        </Link>
      ) : (
        name
      )}{' '}
      <span className="text-soft">{count}</span>
    </>
  );
}

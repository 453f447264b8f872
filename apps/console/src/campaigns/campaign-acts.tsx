import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { ResourceSteps } from '../ui/resource-steps.tsx';
import { AUDIENCE_PERMISSIONS, doneOf, isUnderWay, mayRun, type Campaign } from './campaign.ts';
import { Checked } from './campaign-check.tsx';
import { useAudience } from './use-audiences.ts';
import { useCampaignsChanged, useCancel, usePause, useRun } from './use-campaigns.ts';
import { useCheck } from './use-check.ts';

interface CampaignActsProps {
  campaign: Campaign;
  onEdit: () => void;
  onGone: () => void;
}

/** What one can do with a campaign where it stands. */
export function CampaignActs({ campaign, onEdit, onGone }: CampaignActsProps): ReactNode {
  const may = useMay();
  const t = useTranslations('campaigns');
  const underWay = isUnderWay(campaign) && campaign.deleted_at === null;
  const runs = may('messaging.campaigns.run') && may(AUDIENCE_PERMISSIONS[campaign.audience.type]);
  return (
    <>
      {campaign.deleted_at !== null && <Note>{t('deletedLead')}</Note>}
      <div className="flex flex-wrap gap-2 empty:hidden">
        {runs && mayRun(campaign) && <Run campaign={campaign} />}
        {underWay && may('messaging.campaigns.update') && <Pause campaign={campaign} />}
        <Links campaign={campaign} />
        {underWay && may('messaging.campaigns.delete') && <Cancel campaign={campaign} />}
        {!underWay && (
          <Steps campaign={campaign} beside={runs && mayRun(campaign)} onEdit={onEdit} onGone={onGone} />
        )}
      </div>
    </>
  );
}

/** Says first who would get it and how it looks: once they have it, nobody takes it back. */
function Run({ campaign }: { campaign: Campaign }): ReactNode {
  const t = useTranslations('campaigns');
  const words = useTranslations('messages');
  const [asking, setAsking] = useState(false);
  const again = campaign.last_run !== null;
  const { data: audience, error } = useAudience(campaign.audience, asking);
  const run = useRun(campaign, () => setAsking(false));
  const { id, name, channel } = campaign;
  const counted = audience !== undefined && !audience.building;
  const check = useCheck(id, asking && counted);
  const checked = check.isFetching ? undefined : check.data;
  const count = checked?.complete === true ? checked.reachable : audience?.count;
  return (
    <>
      <Button look="main" onClick={() => setAsking(true)}>
        {t(again ? 'runAgain' : 'run')}
      </Button>
      <Confirm
        open={asking}
        onClose={() => {
          run.reset();
          setAsking(false);
        }}
        title={t('runTitle', { name })}
        action={count === undefined || !counted ? t('run') : t('runFor', { count })}
        busy={run.isPending || !counted || check.isFetching}
        error={run.error ?? error ?? check.error}
        onConfirm={() => run.mutate()}
      >
        {audience === undefined && error === null && <span aria-busy className="bones block h-5" />}
        {audience?.building === true && <p>{t('runBuilding', { audience: audience.name })}</p>}
        {counted && (
          <p>
            {t('runLead', {
              count: audience.count,
              audience: audience.name,
              channel: words(`channels.${channel}`),
            })}
          </p>
        )}
        {check.isFetching && (
          <div role="status" aria-busy aria-label={t('checking')} className="bones mt-3 h-24" />
        )}
        {checked !== undefined && (
          <div className="my-3">
            <Checked check={checked} />
          </div>
        )}
        <p className="mt-2">{t(campaign.paused ? 'runPaused' : 'runGoes')}</p>
      </Confirm>
    </>
  );
}

function Pause({ campaign: { id, paused } }: { campaign: Campaign }): ReactNode {
  const t = useTranslations('campaigns');
  const pause = usePause(id);
  return (
    <>
      <Button look={paused ? 'main' : 'plain'} busy={pause.isPending} onClick={() => pause.mutate(!paused)}>
        {t(paused ? 'resume' : 'pause')}
      </Button>
      {pause.error !== null && (
        <div className="order-last w-full">
          <Failure error={pause.error} />
        </div>
      )}
    </>
  );
}

function Cancel({ campaign }: { campaign: Campaign }): ReactNode {
  const t = useTranslations('campaigns');
  const [asking, setAsking] = useState(false);
  const close = (): void => setAsking(false);
  const cancel = useCancel(campaign, close);
  const { done, audience } =
    campaign.last_run === null ? { done: 0, audience: 0 } : doneOf(campaign.last_run);
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        {t('cancelRun')}
      </Button>
      <Confirm
        open={asking}
        danger
        onClose={() => {
          cancel.reset();
          close();
        }}
        title={t('cancelTitle', { name: campaign.name })}
        action={t('cancelRun')}
        busy={cancel.isPending}
        error={cancel.error}
        onConfirm={() => cancel.mutate()}
      >
        {t('cancelLead', { done, left: audience - done })}
      </Confirm>
    </>
  );
}

/** To what came of it. */
function Links({ campaign: { id, last_run: run } }: { campaign: Campaign }): ReactNode {
  const t = useTranslations('campaigns');
  const may = useMay();
  const { organization } = usePerson();
  const params = { organization: organization.slug };
  if (run === null) return null;
  return (
    <>
      {may('messaging.sends.read') && (
        <ButtonLink to="/o/$organization/messages" params={params} search={{ run_id: run.id }}>
          {t('itsSends')}
        </ButtonLink>
      )}
      {may('messaging.deliverability.read') && (
        <ButtonLink
          to="/o/$organization/messages/deliverability"
          params={params}
          search={{ group_by: 'campaign', group: id }}
        >
          {t('itsDeliverability')}
        </ButtonLink>
      )}
    </>
  );
}

function Steps({ campaign, beside, onEdit, onGone }: CampaignActsProps & { beside: boolean }): ReactNode {
  const t = useTranslations('campaigns');
  const may = useMay();
  const api = useApi();
  const changed = useCampaignsChanged();
  const params = { path: { id: campaign.id } };
  const mayDelete = may('messaging.campaigns.delete');
  return (
    <ResourceSteps
      name={campaign.name}
      deleted={campaign.deleted_at !== null}
      beside={beside}
      onEdit={may('messaging.campaigns.update') ? onEdit : undefined}
      remove={mayDelete ? () => api.DELETE('/v1/messaging/campaigns/{id}', { params }) : undefined}
      restore={mayDelete ? () => api.POST('/v1/messaging/campaigns/{id}/restore', { params }) : undefined}
      purge={
        may('messaging.campaigns.purge')
          ? () => api.DELETE('/v1/messaging/campaigns/{id}/purge', { params })
          : undefined
      }
      purgeLead={t('purgeLead')}
      changed={changed}
      onGone={onGone}
    />
  );
}

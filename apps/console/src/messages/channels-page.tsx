import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Detail, Details } from '../ui/details.tsx';
import { Failure, Forbidden, Note } from '../ui/notices.tsx';
import { Page, Panel, Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { Standing } from '../ui/standing.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import {
  PROVIDERS,
  refusalOf,
  secretsOf,
  settingOf,
  type ChannelSetting,
  type ChannelSettings,
} from './channel-draft.ts';
import { ChannelPanel } from './channel-panel.tsx';
import { LimitsForm } from './limits-form.tsx';
import { MessageTabs } from './message-tabs.tsx';
import { SecretState, useSecretName } from './secret-state.tsx';
import { TopicsForm } from './topics-form.tsx';
import { useChannelDocument, useChannelSettings } from './use-channels.ts';
import { CHANNELS, isOneOf, type Channel } from './vocabulary.ts';

const channelsRoute = getRouteApi('/o/$organization/messages/channels');

/** By what each channel is sent, when, how much, and about what one can choose to hear. */
export function ChannelsPage(): ReactNode {
  const t = useTranslations('messages');
  const parts = useTranslations('message-parts');
  const may = useMay();
  const { data, error, refetch } = useChannelSettings();
  if (!may('messaging.channels.read')) return <Forbidden permission="messaging.channels.read" />;
  return (
    <Page title={parts('parts.channels')} lead={t('channelsLead')}>
      <MessageTabs />
      {data === undefined && error !== null && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <div aria-busy className="bones h-96" />}
      {data !== undefined && <Settings read={data} />}
    </Page>
  );
}

function Settings({ read }: { read: Reading<ChannelSettings> }): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const { open } = channelsRoute.useSearch();
  const navigate = channelsRoute.useNavigate();
  const show = (channel: Channel | undefined): void =>
    void navigate({ search: { open: channel }, resetScroll: false });
  const mayUpdate = may('messaging.channels.update');
  const { put, changed } = useChannelDocument();
  const adopt = () => put({ adopt: true }, read);
  return (
    <>
      <Section title={t('byChannel')}>
        <Standing standing={read.data.standing} adopt={mayUpdate ? adopt : undefined} changed={changed} />
        <div className="grid gap-4 lg:grid-cols-2 2xl:grid-cols-3">
          {CHANNELS.map((channel) => (
            <Card
              key={channel}
              channel={channel}
              setting={settingOf(read.data, channel)}
              onOpen={mayUpdate ? () => show(channel) : undefined}
            />
          ))}
        </div>
      </Section>
      <LimitsForm opened={read} />
      <TopicsForm opened={read} />
      {mayUpdate && isOneOf(CHANNELS, open) && (
        <ChannelPanel key={open} channel={open} opened={read} onClose={() => show(undefined)} />
      )}
    </>
  );
}

interface CardProps {
  channel: Channel;
  setting: ChannelSetting | undefined;
  onOpen: (() => void) | undefined;
}

function Card({ channel, setting, onOpen }: CardProps): ReactNode {
  const t = useTranslations('messages');
  const name = t(`channels.${channel}`);
  const refusal = setting && refusalOf(setting);
  const state = setting === undefined ? 'notSetUp' : setting['enabled'] === false ? 'off' : 'on';
  return (
    <Panel label={name}>
      <div className="flex h-full flex-col gap-3">
        <div className="flex items-center gap-2">
          <h3 className="grow font-medium first-letter:uppercase">{name}</h3>
          <Badge tone={state === 'on' ? 'good' : 'neutral'}>{t(state)}</Badge>
        </div>
        {refusal !== undefined && (
          <Note tone="warn">
            {t('refusedSince')} <Time at={refusal.since} /> ·{' '}
            <code className="font-mono text-xs">
              {refusal.stage} {refusal.code}
            </code>
          </Note>
        )}
        {setting === undefined ? (
          <p className="text-soft">{t('notSetUpLead')}</p>
        ) : (
          <Facts setting={setting} />
        )}
        {onOpen !== undefined && (
          <div className="mt-auto">
            <Button onClick={onOpen}>
              {t(setting === undefined ? 'setUp' : 'change')}
              <span className="sr-only">{name}</span>
            </Button>
          </div>
        )}
      </div>
    </Panel>
  );
}

/** Texts of the channel that stand for themselves; of its secrets, whether they are set. */
function Facts({ setting }: { setting: ChannelSetting }): ReactNode {
  const t = useTranslations('messages');
  const nameOf = useSecretName();
  const shown = ['from', 'host', 'domain', 'url', 'account_sid', 'phone_number_id', 'topic'] as const;
  const { provider } = setting;
  return (
    <Details>
      <Detail name={t('channelFields.provider')}>
        {isOneOf(PROVIDERS, provider) ? t(`providers.${provider}`) : String(provider)}
      </Detail>
      {shown.map((name) => {
        const value = setting[name];
        return typeof value === 'string' ? (
          <Detail key={name} name={t(`channelFields.${name}`)}>
            <bdi className="wrap-anywhere">{value}</bdi>
          </Detail>
        ) : null;
      })}
      {secretsOf(setting).map(({ name, secret }) => (
        <Detail key={name} name={nameOf(name)}>
          <SecretState set={secret.set} at={secret.updated_at} fingerprint={secret.fingerprint} />
        </Detail>
      ))}
    </Details>
  );
}

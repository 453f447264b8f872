import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { Note } from '../ui/notices.tsx';
import { useSay } from '../ui/toasts.tsx';
import { useEdit, type Reading } from '../ui/use-edit.tsx';
import { channelOf, draftOf, newChannel, settingOf, type ChannelSettings } from './channel-draft.ts';
import { ChannelFields } from './channel-fields.tsx';
import { useChannelDocument } from './use-channels.ts';
import type { Channel } from './vocabulary.ts';

interface ChannelPanelProps {
  channel: Channel;
  opened: Reading<ChannelSettings>;
  onClose: () => void;
}

/** One channel: by what and in whose name it is sent. */
export function ChannelPanel({ channel, opened, onClose }: ChannelPanelProps): ReactNode {
  const t = useTranslations('messages');
  const setting = settingOf(opened.data, channel);
  const known = setting === undefined || draftOf(setting) !== undefined;
  const webhook = setting?.['webhook_url'];
  const title = t('setUpChannel', { channel: t(`channels.${channel}`) });
  return (
    <Dialog open onClose={onClose} place="side" title={title} lead={t('secretsLead')}>
      {typeof webhook === 'string' && (
        <Details>
          <Detail name={t('webhookUrl')}>
            <Id value={webhook} />
            <p className="text-xs text-soft">{t('webhookUrlLead')}</p>
          </Detail>
        </Details>
      )}
      {known ? (
        <ChannelForm channel={channel} opened={opened} onClose={onClose} />
      ) : (
        <Note tone="warn">{t('unknownProvider', { provider: String(setting['provider']) })}</Note>
      )}
      {setting !== undefined && <RemoveChannel channel={channel} opened={opened} onClose={onClose} />}
    </Dialog>
  );
}

function ChannelForm({ channel, opened, onClose }: ChannelPanelProps): ReactNode {
  const t = useTranslations('messages');
  const say = useSay();
  const { read, put, changed } = useChannelDocument();
  const draftIn = (settings: ChannelSettings) => {
    const setting = settingOf(settings, channel);
    return (setting && draftOf(setting)) ?? newChannel(channel);
  };
  const [draft, setDraft] = useState(() => draftIn(opened.data));
  const edit = useEdit({
    opened,
    body: channelOf(channel, draft),
    bodyOf: (settings: ChannelSettings) => channelOf(channel, draftIn(settings)),
    read,
    write: (body, on) => put({ channels: { ...on.data.channels, [channel]: body } }, on),
    nameOf: (field) => t(`channelFields.${field as 'from'}`),
    onTheirs: (now) => setDraft(draftIn(now)),
    onSaved: () => {
      void changed();
      say(t('channelSaved', { channel: t(`channels.${channel}`) }));
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    edit.save();
  };
  return (
    <form onSubmit={submit} className="flex min-w-0 flex-col gap-4">
      <ChannelFields
        channel={channel}
        setting={settingOf(opened.data, channel)}
        draft={draft}
        onChange={setDraft}
        error={edit.error}
      />
      {edit.shown}
      <div>
        <Button type="submit" look="main" busy={edit.busy}>
          {t('saveChannel')}
        </Button>
      </div>
    </form>
  );
}

/** Left out of the document: it is off, and what was secret of it is erased. */
function RemoveChannel({ channel, opened, onClose }: ChannelPanelProps): ReactNode {
  const t = useTranslations('messages');
  const say = useSay();
  const { put, changed } = useChannelDocument();
  const [asking, setAsking] = useState(false);
  const name = t(`channels.${channel}`);
  const remove = useMutation({
    mutationFn: () => {
      const { [channel]: _, ...channels } = opened.data.channels;
      return put({ channels }, opened);
    },
    onSuccess: async () => {
      onClose();
      await changed();
      say(t('channelRemoved', { channel: name }));
    },
    // What is there by now is shown behind the question.
    onError: () => void changed(),
  });
  return (
    <div>
      <Button look="danger" onClick={() => setAsking(true)}>
        {t('removeChannel')}
      </Button>
      <Confirm
        open={asking}
        danger
        title={t('removeChannelTitle', { channel: name })}
        action={t('removeChannel')}
        onClose={() => {
          remove.reset();
          setAsking(false);
        }}
        onConfirm={() => remove.mutate()}
        busy={remove.isPending}
        error={remove.error}
      >
        {t('removeChannelLead')}
      </Confirm>
    </div>
  );
}

import {
  Bell,
  CircleDot,
  Coins,
  Mail,
  MessageSquare,
  MonitorSmartphone,
  ShieldCheck,
  ShieldX,
  UserRound,
  Zap,
  type LucideIcon,
} from 'lucide-react';
import { useTranslations } from 'use-intl';
import type { Tone } from '../../ui/badge.tsx';
import type { Common, Item } from './chains.ts';

const CHANNEL_ICONS: Record<string, LucideIcon> = {
  email: Mail,
  sms: MessageSquare,
  whatsapp: MessageSquare,
  push: Bell,
  in_app: MonitorSmartphone,
};

/** By what an item is. */
export function iconOf(item: Item): LucideIcon {
  switch (item.type) {
    case 'event':
      return item.data.type === 'identify' ? UserRound : Zap;
    case 'consent':
      return item.data.status === 'granted' ? ShieldCheck : ShieldX;
    case 'transaction':
      return Coins;
    case 'send':
      return CHANNEL_ICONS[item.data.channel] ?? Mail;
    default:
      // A kind that only a newer platform knows.
      return CircleDot;
  }
}

const GLANCED = 4;
const GLANCED_CHARACTERS = 80;

const TONES: Record<string, Tone> = {
  sent: 'good',
  delivered: 'good',
  opened: 'good',
  clicked: 'good',
  held: 'warn',
  unknown: 'warn',
  suppressed: 'warn',
  opted_out: 'warn',
  capped: 'warn',
  canceled: 'neutral',
  bounced: 'bad',
  complained: 'bad',
  failed: 'bad',
};

/** What a message's state means for whoever reads it. */
export function toneOf(state: string): Tone {
  return TONES[state] ?? 'accent';
}

/** Words for what the API says by codes; a code that is not known here stays a code. */
export function useWords() {
  const t = useTranslations('contacts');
  type Key = Parameters<typeof t.has>[0];
  const said = (key: string, code: string): string =>
    t.has(key as Key) ? (t as (name: string) => string)(key) : code;
  return {
    title: (item: Item): string => {
      switch (item.type) {
        case 'event':
          return item.data.type === 'identify' ? t('timeline.identified') : (item.data.event ?? item.title);
        case 'consent':
          return `${said(`purposes.${item.data.purpose}`, item.data.purpose)}: ${said(`consentStates.${item.data.status}`, item.data.status)}`;
        case 'transaction':
          return `${said(`kinds.${item.data.kind}`, item.data.kind)} ${t('timeline.points', { points: item.data.points })}`;
        case 'send':
          return item.data.subject ?? said(`channels.${item.data.channel}`, item.data.channel);
        default:
          return (item as Common).title;
      }
    },
    type: (code: string): string => said(`types.${code}`, code),
    channel: (code: string | null): string =>
      code === null ? t('consents.allChannels') : said(`channels.${code}`, code),
    state: (code: string): string => said(`sendStates.${code}`, code),
    reason: (code: string): string => said(`reasons.${code}`, code),
    cause: (code: string): string => said(`causes.${code}`, code),
    purpose: (code: string): string => said(`purposes.${code}`, code),
    consent: (code: string): string => said(`consentStates.${code}`, code),
    kind: (code: string): string => said(`kinds.${code}`, code),
    source: (code: string): string => said(`sources.${code}`, code),
  };
}

/** The first few of an event's properties, in a line. */
export function glanceOf(told: object): string {
  return Object.entries(told)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .slice(0, GLANCED)
    .map(([name, value]) => `${name}: ${String(value).slice(0, GLANCED_CHARACTERS)}`)
    .join(' · ');
}

import { Problem } from '@customer-platform/problem-json';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import type { SendingPlan } from './channel-plan.js';

/** @throws Problem `validation_failed`: a misspelt topic would pass everybody's preferences */
export function checkTopicAmong(topics: SendingPlan['topics'], topic: string, channel: Channel): void {
  if (topics.some(({ key, channels }) => key === topic && channels.includes(channel))) return;
  const known = topics.filter(({ channels }) => channels.includes(channel)).map(({ key }) => key);
  const detail =
    known.length > 0 ? `One of ${known.join(', ')}.` : 'channel-settings has no topic for this channel.';
  throw Problem.validation([{ pointer: '/topic', code: 'invalid_enum', detail }]);
}

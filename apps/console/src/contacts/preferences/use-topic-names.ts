import { topicsIn, useChannelSettings } from '../../messages/use-channels.ts';

/** Says what topics are called, for who may read that; else by their keys. */
export function useTopicNames(): (topic: string) => string {
  const { data } = useChannelSettings();
  const topics = data === undefined ? [] : topicsIn(data.data);
  return (topic) => topics.find(({ key }) => key === topic)?.name ?? topic;
}

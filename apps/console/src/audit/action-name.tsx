import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';

/** Says what was done in words; an act that only a newer platform knows stays its code. */
export function useActionName(): (action: string) => string {
  const t = useTranslations('audit');
  return (action) => {
    const [, thing = '', verb = ''] = action.split('.');
    const [thingKey, verbKey] = [`things.${thing}` as 'things.contacts', `verbs.${verb}` as 'verbs.create'];
    if (!t.has(thingKey) || !t.has(verbKey)) return action;
    return t('act', { thing: t(thingKey), verb: t(verbKey) });
  };
}

/** An act in words, with its code where one points at it. */
export function ActionName({ action }: { action: string }): ReactNode {
  const named = useActionName();
  return <span title={action}>{named(action)}</span>;
}

/** Says what kind of thing something was done to. */
export function useThingName(): (type: string) => string {
  const t = useTranslations('audit');
  return (type) => {
    const key = `things.${type}` as 'things.contacts';
    return t.has(key) ? t(key) : type;
  };
}

import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from './button.tsx';
import { Failure } from './notices.tsx';

interface StandingProps {
  standing: 'permitted' | 'not_permitted' | 'unowned' | null | undefined;
  /** Left out where it may not be changed. */
  adopt: (() => Promise<unknown>) | undefined;
  /** Reads anew what shows it. */
  changed: () => Promise<void>;
}

/** What something that carries data out stands by, where that is not its maker's rights, and the way to answer for it. */
export function Standing({ standing, adopt, changed }: StandingProps): ReactNode {
  const t = useTranslations('ui');
  const adopting = useMutation({ mutationFn: async () => adopt?.(), onSettled: changed });
  if (standing !== 'not_permitted' && standing !== 'unowned') return null;
  return (
    <>
      <p className="text-sm text-soft">{t(standing === 'unowned' ? 'unownedLead' : 'notPermittedLead')}</p>
      {adopt !== undefined && (
        <div>
          <Button busy={adopting.isPending} onClick={() => adopting.mutate()}>
            {t('adopt')}
          </Button>
        </div>
      )}
      {adopting.error !== null && <Failure error={adopting.error} />}
    </>
  );
}

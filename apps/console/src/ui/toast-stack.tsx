import { Toast } from '@base-ui/react/toast';
import { X } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import type { ToastQueue } from './toast-queue.ts';

/** Where what was done is said. */
export function ToastStack({ queue }: { queue: ToastQueue }): ReactNode {
  return (
    <Toast.Provider>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-60 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2">
          <Shown queue={queue} />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function Shown({ queue }: { queue: ToastQueue }): ReactNode {
  const { toasts, add } = Toast.useToastManager();
  const t = useTranslations('ui');
  useEffect(
    () =>
      queue.shownBy(({ title, lead, undo }) => {
        add({
          title,
          ...(lead === undefined ? {} : { description: lead, priority: 'high' }),
          ...(undo === undefined ? {} : { actionProps: { children: t('undo'), onClick: undo } }),
        });
      }),
    [queue, add, t],
  );
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className="rounded-panel border border-line bg-raised p-3 shadow-lg data-ending-style:opacity-0"
    >
      <Toast.Content className="flex items-start gap-3">
        <div className="min-w-0 grow">
          <Toast.Title className="font-medium wrap-anywhere" />
          <Toast.Description className="text-soft" />
        </div>
        <Toast.Action className="control shrink-0 px-2 font-medium text-accent hover:bg-hover" />
        <Toast.Close aria-label={t('close')} className="control px-1 text-soft hover:bg-hover">
          <X aria-hidden className="size-4" />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}

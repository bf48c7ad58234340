/** A question over the page: the browser's own dialog, which holds the focus and gives it back. */
import { useEffect, useId, useRef, type ReactNode } from 'react';

export const Dialog = ({
  title,
  close,
  className,
  children,
}: {
  readonly title: string;
  /** Called when the reader leaves it, however. */
  readonly close: () => void;
  readonly className?: string;
  readonly children: ReactNode;
}): ReactNode => {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={className}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      <h2 id={id} className={className === 'palette' ? 'unseen' : 'inside'}>
        {title}
      </h2>
      {children}
    </dialog>
  );
};

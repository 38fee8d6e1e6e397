import { ApiError, BAD_REQUEST, bodyOf, SERVER_AWAY, settled } from '../api.ts';

/** Sends a file as the body, and reports how many bytes of it are sent: `fetch` does not. */
export async function upload<T>(
  path: string,
  file: Blob,
  onSent: (bytes: number) => void,
  abort: AbortSignal,
): Promise<T> {
  return bodyOf(await settled(() => sendFile(path, file, onSent, abort)));
}

function sendFile(path: string, file: Blob, onSent: (bytes: number) => void, abort: AbortSignal): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const request = new XMLHttpRequest();
  request.open('POST', path);
  request.setRequestHeader('content-type', 'application/octet-stream');
  request.upload.onprogress = ({ loaded }) => onSent(loaded);
  request.onload = () => {
    const retryAfter = request.getResponseHeader('retry-after');
    const headers = new Headers(retryAfter === null ? {} : { 'retry-after': retryAfter });
    resolve(new Response(request.responseText, { status: request.status, statusText: request.statusText, headers }));
  };
  request.onerror = async () => reject(await explainError(file));
  request.onabort = () => reject(new DOMException('The upload was stopped', 'AbortError'));
  abort.addEventListener('abort', () => request.abort());
  request.send(file);
  return promise;
}

/** A browser does not send a file that is another one than when it was chosen. It calls this an error of the network. */
const explainError = (file: Blob): Promise<ApiError> =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => new ApiError(SERVER_AWAY, CUT_OFF),
      () => new ApiError(BAD_REQUEST, CHANGED),
    );

const CHANGED = 'The file was changed or removed after you chose it. Choose it again.';
const CUT_OFF =
  'The connection broke while the file was sent. Check under Imports whether a part was applied, and send it again.';

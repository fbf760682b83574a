// APNsSender
